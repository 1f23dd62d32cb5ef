-- Which decisions were not among those that the hand was last offered?
SELECT round, hand, act, legal, leaf_index
FROM decisions
WHERE legal IS NOT NULL AND NOT list_contains(legal, act)
ORDER BY leaf_index
