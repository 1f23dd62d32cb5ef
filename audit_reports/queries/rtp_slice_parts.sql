-- What did luck and decisions add to each bet, in a period, by whatever `$by` names?
-- One row for each slice of `rtp_slices`, of the closed rounds that could be followed. The squares are
-- summed over rounds and kinds of luck: no kind goes with another, so their variances add up.
WITH sums AS (
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
            WHEN 'day' IN $by THEN closed_at::DATE
            WHEN 'week' IN $by THEN date_trunc('week', closed_at)::DATE
            WHEN 'month' IN $by THEN date_trunc('month', closed_at)::DATE
        END AS period_slice,
        SUM(COLUMNS('^(luck|skill)_')) AS 'total_\0',
        SUM(COLUMNS('^luck_') ** 2) AS 'squares_\0'
    FROM round_bets
    WHERE
        mode = 'real'
        AND state = 'closed'
        AND start_minor IS NOT NULL
        AND ($begin::TIMESTAMP IS NULL OR closed_at >= $begin)
        AND ($end::TIMESTAMP IS NULL OR closed_at < $end)
    GROUP BY ALL
)

SELECT
    game,
    rules_digest,
    currency,
    bet,
    table_slice,
    player_slice,
    channel_slice,
    stake_slice,
    period_slice,
    list_sum([*COLUMNS('^total_luck_')]) AS luck,
    list_sum([*COLUMNS('^squares_luck_')]) AS luck_squares,
    list_sum([*COLUMNS('^total_skill_')]) AS skill
FROM sums
ORDER BY ALL
