-- What did each bet take and return for real money, in a period, by whatever `$by` names?
-- One row for each game, rules digest, currency, bet and slice. The seven sums after `hands` are those
-- of `statistics.BetSums`, over closed rounds, all hands of a round together. Voids and open rounds
-- stand apart. A period goes by when a round ended, or was opened where it has not; a stake band is
-- named by the power of ten, in minor units, that it begins at, a period by its first day. Rounds are
-- summed already by day (`sums.sql`); those of days that the period has a part of are summed here.
WITH parts_of_days AS (
    FROM round_bets
    WHERE
        is_within(COALESCE(closed_at, opened_at), $begin::TIMESTAMP, $end::TIMESTAMP)
        AND NOT is_whole_day(
            COALESCE(closed_at, opened_at)::DATE, $begin::TIMESTAMP, $end::TIMESTAMP
        )
),

chosen AS (
    FROM daily_sums
    WHERE is_whole_day(day, $begin::TIMESTAMP, $end::TIMESTAMP)
    UNION ALL BY NAME
    FROM sums_by_day('parts_of_days')
)

SELECT
    game,
    rules_digest,
    currency,
    bet,
    IF('table' IN $by, table_name, NULL) AS table_slice,
    IF('player' IN $by, player, NULL) AS player_slice,
    IF('channel' IN $by, channel, NULL) AS channel_slice,
    IF('stake_band' IN $by, stake_band, NULL)::VARCHAR AS stake_band_slice,
    CASE
        WHEN 'day' IN $by THEN day
        WHEN 'week' IN $by THEN date_trunc('week', day)::DATE
        WHEN 'month' IN $by THEN date_trunc('month', day)::DATE
    END AS period_slice,
    COUNT(DISTINCT player) FILTER (state = 'closed') AS players,
    (SUM(hands) FILTER (state = 'closed'))::BIGINT AS hands,
    (SUM(rounds) FILTER (state = 'closed'))::BIGINT AS rounds,
    (SUM(initial) FILTER (state = 'closed'))::BIGINT AS initial,
    (SUM(staked) FILTER (state = 'closed'))::BIGINT AS staked,
    (SUM(paid) FILTER (state = 'closed'))::BIGINT AS paid,
    (SUM(initial_initial) FILTER (state = 'closed'))::HUGEINT AS initial_initial,
    (SUM(win_initial) FILTER (state = 'closed'))::HUGEINT AS win_initial,
    (SUM(win_win) FILTER (state = 'closed'))::HUGEINT AS win_win,
    (SUM(rounds) FILTER (state = 'void'))::BIGINT AS voided_rounds,
    (SUM(staked) FILTER (state = 'void'))::BIGINT AS voided_minor,
    (SUM(rounds) FILTER (state = 'open'))::BIGINT AS open_rounds,
    (SUM(held_minor) FILTER (state = 'open'))::BIGINT AS held_minor,
    (SUM(resettled_rounds) FILTER (state = 'closed'))::BIGINT AS resettled_rounds,
    (SUM(resettled_minor) FILTER (state = 'closed'))::BIGINT AS resettled_minor,
    (SUM(cash_minor) FILTER (state = 'closed'))::BIGINT AS cash_minor,
    (SUM(incentive_minor) FILTER (state = 'closed'))::BIGINT AS incentive_minor,
    (SUM(followed_rounds) FILTER (state = 'closed'))::BIGINT AS followed_rounds,
    (SUM(followed_minor) FILTER (state = 'closed'))::BIGINT AS followed_minor,
    SUM(start_minor) FILTER (state = 'closed') AS start_minor,
    SUM(error_minor) FILTER (state = 'closed') AS error_minor,
    (SUM(wrong_rounds) FILTER (state = 'closed'))::BIGINT AS wrong_rounds,
    SUM(wrong_minor) FILTER (state = 'closed') AS wrong_minor,
    SUM(luck) FILTER (state = 'closed') AS luck,
    SUM(luck_luck) FILTER (state = 'closed') AS luck_luck,
    SUM(skill) FILTER (state = 'closed') AS skill
FROM chosen
GROUP BY ALL
ORDER BY ALL
