-- Which games, months and ranges of leaves hold rounds that changed since a leaf, by an event of their
-- own or by a decided dispute?
SELECT DISTINCT
    COALESCE(game, $unknown) AS game,
    strftime(opened_at, '%Y-%m') AS month,
    first_leaf // $part_leaves AS part
FROM rounds
WHERE last_leaf >= $since OR round IN (SELECT round FROM disputes WHERE leaf_index >= $since)
ORDER BY ALL
