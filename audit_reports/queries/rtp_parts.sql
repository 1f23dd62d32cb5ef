-- What did each kind of chance move and of decision add to each bet, day by day?
-- One row for each game, rules digest, currency, bet, day and sum; `sum_of` is such as
-- `squares_luck_hit`, Σx² of the rounds' sums x of luck in hits, in minor units. Rounds that could not
-- be followed have no parts.
WITH sums AS (
    SELECT
        game,
        rules_digest,
        currency,
        bet,
        closed_at::DATE AS day,
        COUNT_IF(ABS(COLUMNS('^(luck|skill)_')) > 1e-9)::DOUBLE AS 'moved_\0',
        SUM(COLUMNS('^(luck|skill)_')) AS 'total_\0',
        SUM(COLUMNS('^(luck|skill)_') ** 2) AS 'squares_\0',
        SUM(COLUMNS('^luck_') ** 4) AS 'fourths_\0'
    FROM round_bets
    WHERE
        mode = 'real'
        AND state = 'closed'
        AND start_minor IS NOT NULL
        AND ($begin::TIMESTAMP IS NULL OR closed_at >= $begin)
        AND ($end::TIMESTAMP IS NULL OR closed_at < $end)
    GROUP BY ALL
)

SELECT game, rules_digest, currency, bet, day, sum_of, amount
FROM (UNPIVOT sums ON COLUMNS('^(moved|total|squares|fourths)_') INTO NAME sum_of VALUE amount)
WHERE amount <> 0
ORDER BY ALL
