-- Which cards were dealt in a round more often than the shoe of its game has them?
WITH suspects AS (
    -- Equal cards have one bit, so more copies than decks leave so many bits fewer than cards.
    SELECT first_leaf
    FROM cards
    WHERE card IS NOT NULL
    GROUP BY first_leaf
    HAVING
        COUNT(*) - bit_count(bit_or(1::UBIGINT << (hash(card) & 63)))
        >= (SELECT MIN(shoe_cards // 52) FROM rule_sets)
)

SELECT round, card, COUNT(*) AS dealt, ANY_VALUE(shoe_cards // 52) AS in_the_shoe,
    MAX(cards.leaf_index) AS leaf_index
FROM cards
SEMI JOIN suspects USING (first_leaf)
JOIN rounds USING (first_leaf, round)
JOIN rule_sets USING (rules_digest)
WHERE card IS NOT NULL
GROUP BY first_leaf, round, card
HAVING COUNT(*) > ANY_VALUE(shoe_cards // 52)
ORDER BY leaf_index
