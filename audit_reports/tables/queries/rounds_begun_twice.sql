-- Which of the rounds just written (the rows of `written_rounds`) began at more than one leaf?
-- The chain of a stream cannot show it where the first beginning lies in an earlier update.
SELECT round, MAX(first_leaf) AS leaf_index
FROM rounds
WHERE round IN (SELECT round FROM written_rounds)
GROUP BY round
HAVING COUNT(*) > 1
ORDER BY leaf_index
