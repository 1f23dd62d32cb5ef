-- What did each bet take and return for real money, in a period, by whatever `$by` names?
-- One row for each game, rules digest, currency, bet and slice. The ten sums after `hands` are those
-- of `statistics.BetSums`, over closed rounds, all hands of a round together. Voids and open rounds
-- stand apart. A period goes by when a round ended, or was opened where it has not; a stake band is
-- named by the power of ten, in minor units, that it begins at, a period by its first day.
WITH chosen AS (
    SELECT
        *,
        COALESCE(closed_at, opened_at) AS ended,
        initial_minor::HUGEINT AS s,
        staked_minor::HUGEINT AS t,
        paid_minor::HUGEINT AS p,
        (COALESCE(error_minor, 0) <> 0 AND NOT resettled) AS wrong
    FROM round_bets
    WHERE mode = 'real'
)

SELECT
    game,
    rules_digest,
    currency,
    bet,
    IF('table' IN $by, table_name, NULL) AS table_slice,
    IF('player' IN $by, player, NULL) AS player_slice,
    IF('channel' IN $by, channel, NULL) AS channel_slice,
    IF('stake_band' IN $by, length(initial_minor::VARCHAR) - 1, NULL)::VARCHAR AS stake_slice,
    CASE
        WHEN 'day' IN $by THEN ended::DATE
        WHEN 'week' IN $by THEN date_trunc('week', ended)::DATE
        WHEN 'month' IN $by THEN date_trunc('month', ended)::DATE
    END AS period_slice,
    COUNT(DISTINCT player) FILTER (state = 'closed') AS players,
    COALESCE(SUM(hands) FILTER (state = 'closed'), 0)::BIGINT AS hands,
    COUNT(*) FILTER (state = 'closed') AS rounds,
    SUM(s) FILTER (state = 'closed') AS initial,
    SUM(t) FILTER (state = 'closed') AS staked,
    SUM(p) FILTER (state = 'closed') AS paid,
    SUM(s * s) FILTER (state = 'closed') AS initial_initial,
    SUM((p - t) * s) FILTER (state = 'closed') AS win_initial,
    SUM((p - t) * (p - t)) FILTER (state = 'closed') AS win_win,
    SUM(t * t) FILTER (state = 'closed') AS staked_staked,
    SUM(p * t) FILTER (state = 'closed') AS paid_staked,
    SUM(p * p) FILTER (state = 'closed') AS paid_paid,
    COUNT(*) FILTER (state = 'void') AS voided_rounds,
    SUM(staked_minor) FILTER (state = 'void') AS voided_minor,
    COUNT(*) FILTER (state = 'open') AS open_rounds,
    SUM(held_minor) FILTER (state = 'open') AS held_minor,
    COUNT(*) FILTER (state = 'closed' AND resettled) AS resettled_rounds,
    SUM(paid_minor - recorded_paid_minor) FILTER (state = 'closed') AS resettled_minor,
    SUM(cash_staked_minor) FILTER (state = 'closed') AS cash_minor,
    SUM(incentive_staked_minor) FILTER (state = 'closed') AS incentive_minor,
    COUNT(start_minor) FILTER (state = 'closed') AS followed_rounds,
    SUM(initial_minor) FILTER (state = 'closed' AND start_minor IS NOT NULL) AS followed_minor,
    SUM(start_minor) FILTER (state = 'closed') AS start_minor,
    SUM(error_minor) FILTER (state = 'closed') AS error_minor,
    COUNT(*) FILTER (state = 'closed' AND wrong) AS wrong_rounds,
    SUM(error_minor) FILTER (state = 'closed' AND wrong) AS wrong_minor
FROM chosen
WHERE ($begin::TIMESTAMP IS NULL OR ended >= $begin) AND ($end::TIMESTAMP IS NULL OR ended < $end)
GROUP BY ALL
ORDER BY ALL
