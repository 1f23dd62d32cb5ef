-- Which rounds ended, or were dealt, before they were opened?
SELECT round, opened_at, dealt_at, closed_at, last_leaf AS leaf_index
FROM rounds
WHERE closed_at < opened_at OR dealt_at < opened_at OR closed_at < dealt_at
ORDER BY leaf_index
