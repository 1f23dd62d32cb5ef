-- Which rounds hold stakes that are not settled, and how much?
SELECT
    first_leaf AS leaf_index,
    round,
    game,
    currency,
    table_name AS "table",
    opened_at,
    SUM(held_minor)::BIGINT AS held_minor
FROM round_bets
WHERE mode = 'real' AND state = 'open' AND is_within(opened_at, NULL::TIMESTAMP, $end::TIMESTAMP)
GROUP BY ALL
HAVING SUM(held_minor) > 0
ORDER BY first_leaf
