-- From which place of a shoe was more than one card drawn in a round?
SELECT round, shoe_index, COUNT(*) AS cards, MAX(leaf_index) AS leaf_index
FROM cards
GROUP BY first_leaf, round, shoe_index
HAVING COUNT(*) > 1
ORDER BY leaf_index
