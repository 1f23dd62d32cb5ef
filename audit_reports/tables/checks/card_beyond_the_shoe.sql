-- Which cards came from a place that the shoe of their game does not have?
SELECT round, receiver, shoe_index, shoe_cards, cards.leaf_index
FROM cards
JOIN rounds USING (first_leaf, round)
JOIN rule_sets USING (rules_digest)
WHERE
    -- Every shoe has a deck at least, so that few cards are looked up.
    shoe_index NOT BETWEEN 0 AND 51
    AND (shoe_index < 0 OR shoe_index >= shoe_cards)
ORDER BY cards.leaf_index
