-- Which games, months and ranges of leaves, by their first leaf and length, hold rounds that changed
-- since a leaf, by an event of their own or by a decided dispute, or that came from the tail into parts?
SELECT DISTINCT
    COALESCE(game, $unknown) AS game,
    strftime(opened_at, '%Y-%m') AS month,
    IF(first_leaf < $whole, $part_leaves, $tail_leaves) AS leaves_a_file,
    first_leaf // leaves_a_file * leaves_a_file AS first_of_file
FROM rounds
WHERE
    last_leaf >= $since
    OR (first_leaf >= $regrouped AND first_leaf < $whole)
    OR round IN (SELECT round FROM disputes WHERE leaf_index >= $since)
ORDER BY ALL
