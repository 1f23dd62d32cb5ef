-- What did each kind of chance move and of decision add to each bet, day by day?
-- One row for each game, rules digest, currency, bet, day and sum; `sum_of` is such as
-- `squares_luck_hit`, Σx² of the rounds' sums x of luck in hits, in minor units, `squares_unit_hit`, the same
-- for a unit of stake, or `came_dealer_bust`, how often a counted event came. Rounds that could not be
-- followed have no parts. Days are those of `$zone`. Rounds are summed already by day of UTC (`sums.sql`);
-- those of days that the period has a part of are summed here, and all where another zone is asked for.
WITH parts_of_days AS (
    SELECT * REPLACE (on_clocks_of(closed_at, $zone) AS closed_at)
    FROM round_bets
    WHERE
        is_within(closed_at, $begin::TIMESTAMP, $end::TIMESTAMP)
        AND NOT (
            are_days_of_utc(['day'], $zone)
            AND is_whole_day(closed_at::DATE, $begin::TIMESTAMP, $end::TIMESTAMP)
        )
),

chosen AS (
    FROM daily_luck
    WHERE
        are_days_of_utc(['day'], $zone)
        AND is_whole_day(day, $begin::TIMESTAMP, $end::TIMESTAMP)
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
        SUM(COLUMNS('^(moved|total|squares|fourths|chances|came|expected|variance)_') ORDER BY first_leaf)::DOUBLE AS '\0'
    FROM chosen
    GROUP BY ALL
)

SELECT game, rules_digest, currency, bet, day, sum_of, amount
FROM (UNPIVOT sums ON COLUMNS('^(moved|total|squares|fourths|chances|came|expected|variance)_') INTO NAME sum_of VALUE amount)
WHERE amount <> 0
ORDER BY ALL
