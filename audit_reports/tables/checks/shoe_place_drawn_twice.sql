-- From which place of a shoe was more than one card drawn in a round?
WITH suspects AS (
    -- Cards from one place have one bit, so a round with a bit for every card has no such place.
    SELECT first_leaf
    FROM cards
    GROUP BY first_leaf
    HAVING bit_count(bit_or(1::UBIGINT << (shoe_index & 63))) < COUNT(*)
)

SELECT round, shoe_index, COUNT(*) AS cards, MAX(leaf_index) AS leaf_index
FROM cards SEMI JOIN suspects USING (first_leaf)
GROUP BY first_leaf, round, shoe_index
HAVING COUNT(*) > 1
ORDER BY leaf_index
