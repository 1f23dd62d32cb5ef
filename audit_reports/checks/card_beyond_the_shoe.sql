-- Which cards came from a place that the shoe of their game does not have?
WITH suspects AS (
    -- Beyond the smallest shoe there are few, so that few are looked up.
    SELECT first_leaf, receiver, shoe_index, leaf_index
    FROM cards
    WHERE shoe_index < 0 OR shoe_index >= (SELECT MIN(shoe_cards) FROM rule_sets)
)

SELECT round, receiver, shoe_index, shoe_cards, suspects.leaf_index
FROM suspects
JOIN rounds USING (first_leaf)
JOIN rule_sets USING (rules_digest)
WHERE shoe_index < 0 OR shoe_index >= shoe_cards
ORDER BY suspects.leaf_index
