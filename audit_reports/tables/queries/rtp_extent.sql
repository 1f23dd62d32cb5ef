-- Whose rounds for real money were counted, how many, and between which leaves and times?
SELECT
    operator,
    COUNT(DISTINCT first_leaf) AS rounds,
    MIN(first_leaf) AS first_leaf,
    MAX(last_leaf) AS last_leaf,
    MIN(COALESCE(closed_at, opened_at)) AS first_ended,
    MAX(COALESCE(closed_at, opened_at)) AS last_ended
FROM round_bets
WHERE
    mode = 'real'
    AND is_within(COALESCE(closed_at, opened_at), $begin::TIMESTAMP, $end::TIMESTAMP)
GROUP BY operator
ORDER BY operator
