-- What did each kind of chance move and of decision add to each bet, day by day?
-- One row for each game, rules digest, currency, bet, day and sum; `sum_of` is such as
-- `squares_luck_hit`, Σx² of the rounds' sums x of luck in hits, in minor units. Rounds that could not
-- be followed have no parts. Rounds are summed already by day (`sums.sql`); those of days that the
-- period has a part of are summed here.
WITH parts_of_days AS (
    FROM round_bets
    WHERE
        is_within(closed_at, $begin::TIMESTAMP, $end::TIMESTAMP)
        AND NOT is_whole_day(closed_at::DATE, $begin::TIMESTAMP, $end::TIMESTAMP)
),

chosen AS (
    FROM daily_luck
    WHERE is_whole_day(day, $begin::TIMESTAMP, $end::TIMESTAMP)
    UNION ALL BY NAME
    FROM luck_by_day('parts_of_days')
),

sums AS (
    SELECT
        game,
        rules_digest,
        currency,
        bet,
        day,
        SUM(COLUMNS('^(moved|total|squares|fourths)_') ORDER BY first_leaf)::DOUBLE AS '\0'
    FROM chosen
    GROUP BY ALL
)

SELECT game, rules_digest, currency, bet, day, sum_of, amount
FROM (UNPIVOT sums ON COLUMNS('^(moved|total|squares|fourths)_') INTO NAME sum_of VALUE amount)
WHERE amount <> 0
ORDER BY ALL
