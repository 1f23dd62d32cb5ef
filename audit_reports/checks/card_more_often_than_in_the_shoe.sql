-- Which cards were dealt in a round more often than the shoe of its game has them?
SELECT round, card, COUNT(*) AS dealt, ANY_VALUE(shoe_cards // 52) AS in_the_shoe,
    MAX(cards.leaf_index) AS leaf_index
FROM cards
JOIN rounds USING (first_leaf, round)
JOIN rule_sets USING (rules_digest)
WHERE card IS NOT NULL
GROUP BY first_leaf, round, card
HAVING COUNT(*) > ANY_VALUE(shoe_cards // 52)
ORDER BY leaf_index
