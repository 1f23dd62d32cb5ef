-- What did each bet take and return for real money, in a period, by whatever `$by` names?
-- One row for each game, rules digest, currency, bet and slice, the main bet of each game first. `sums`
-- are those of `statistics.BetSums`, over closed rounds, all hands of a round together. Voids and open
-- rounds stand apart. `unit_…` are sums of luck for a unit of stake, kind by kind, and `counts` those of
-- events, all in the order of their columns and null where no round was followed. A period goes by when a round ended, or was opened where it has not; a stake band
-- is named by the power of ten, in minor units, that it begins at. Days are those of `$zone`. Rounds
-- are summed already by day of UTC (`sums.sql`); those of days that the period has a part of are summed
-- here, and all where days of another zone are asked for.
WITH parts_of_days AS (
    SELECT
        * REPLACE (
            on_clocks_of(closed_at, $zone) AS closed_at,
            on_clocks_of(opened_at, $zone) AS opened_at
        )
    FROM round_bets
    WHERE
        is_within(COALESCE(closed_at, opened_at), $begin::TIMESTAMP, $end::TIMESTAMP)
        AND NOT (
            are_days_of_utc($by, $zone)
            AND is_whole_day(
                COALESCE(closed_at, opened_at)::DATE, $begin::TIMESTAMP, $end::TIMESTAMP
            )
        )
),

chosen AS (
    FROM daily_sums
    WHERE
        are_days_of_utc($by, $zone)
        AND is_whole_day(day, $begin::TIMESTAMP, $end::TIMESTAMP)
    UNION ALL BY NAME
    FROM sums_by_day('parts_of_days')
),

-- By state in rows, since a filter on every sum would be most of the work.
by_state AS (
    SELECT
        game,
        rules_digest,
        currency,
        bet,
        state,
        IF('ledger' IN $by::VARCHAR[], ledger, NULL) AS ledger_slice,
        IF('table' IN $by::VARCHAR[], table_name, NULL) AS table_slice,
        IF('player' IN $by::VARCHAR[], player, NULL) AS player_slice,
        IF('channel' IN $by::VARCHAR[], channel, NULL) AS channel_slice,
        IF('stake_band' IN $by::VARCHAR[], stake_band, NULL) AS stake_band_slice,
        CASE
            WHEN 'day' IN $by::VARCHAR[] THEN day
            WHEN 'week' IN $by::VARCHAR[] THEN date_trunc('week', day)::DATE
            WHEN 'month' IN $by::VARCHAR[] THEN date_trunc('month', day)::DATE
        END AS period_slice,
        COUNT(DISTINCT player) AS players,
        MAX(last_leaf) AS last_leaf,
        SUM(COLUMNS('^(rounds|hands|initial|staked|paid)$'))::BIGINT AS '\0',
        SUM(COLUMNS('^(initial_initial|win_initial|win_win)$'))::HUGEINT AS '\0',
        SUM(COLUMNS('^(held|resettled|cash|incentive|followed)_minor$'))::BIGINT AS '\0',
        SUM(COLUMNS('^(resettled|followed|unfollowed|wrong)_rounds$'))::BIGINT AS '\0',
        SUM(COLUMNS('^((start|error|wrong|underpaid)_minor|luck|luck_luck|skill)$')) AS '\0',
        SUM(COLUMNS('^(total|squares|fourths)_unit_'))::HUGEINT AS '\0',
        SUM(COLUMNS('^(chances|came|expected|variance)_'))::BIGINT AS '\0'
    FROM chosen
    GROUP BY ALL
),

-- One row a slice: null where it has no round of a state.
by_slice AS (
    SELECT
        COLUMNS('^(game|rules_digest|currency|bet)$|_slice$'),
        ANY_VALUE(COLUMNS(* EXCLUDE (
            game, rules_digest, currency, bet, state, held_minor,
            ledger_slice, table_slice, player_slice, channel_slice, stake_band_slice, period_slice
        ))) FILTER (state = 'closed') AS '\0',
        ANY_VALUE(rounds) FILTER (state = 'void') AS voided_rounds,
        ANY_VALUE(staked) FILTER (state = 'void') AS voided_minor,
        ANY_VALUE(rounds) FILTER (state = 'open') AS open_rounds,
        ANY_VALUE(held_minor) FILTER (state = 'open') AS held_minor
    FROM by_state
    GROUP BY ALL
)

SELECT
    game,
    rules_digest,
    currency,
    bet,
    MAP($by::VARCHAR[], list_transform($by::VARCHAR[], lambda name: CASE name
        WHEN 'ledger' THEN ledger_slice
        WHEN 'table' THEN table_slice
        WHEN 'player' THEN player_slice
        WHEN 'channel' THEN channel_slice
        WHEN 'stake_band' THEN stake_band_slice::VARCHAR
        WHEN 'day' THEN period_slice::VARCHAR
        WHEN 'week' THEN strftime(period_slice, '%G-W%V')
        WHEN 'month' THEN strftime(period_slice, '%Y-%m')
    END)) AS slice,
    COALESCE(players, 0) AS players,
    COALESCE(hands, 0) AS hands,
    {
        'rounds': COALESCE(rounds, 0),
        'initial': COALESCE(initial, 0),
        'staked': COALESCE(staked, 0),
        'paid': COALESCE(paid, 0),
        'initial_initial': COALESCE(initial_initial, 0),
        'win_initial': COALESCE(win_initial, 0),
        'win_win': COALESCE(win_win, 0)
    } AS sums,
    COALESCE(voided_rounds, 0) AS voided_rounds,
    COALESCE(voided_minor, 0) AS voided_minor,
    COALESCE(open_rounds, 0) AS open_rounds,
    COALESCE(held_minor, 0) AS held_minor,
    COALESCE(resettled_rounds, 0) AS resettled_rounds,
    COALESCE(resettled_minor, 0) AS resettled_minor,
    cash_minor,
    incentive_minor,
    COALESCE(followed_rounds, 0) AS followed_rounds,
    COALESCE(followed_minor, 0) AS followed_minor,
    COALESCE(unfollowed_rounds, 0) AS unfollowed_rounds,
    COALESCE(start_minor, 0) AS start_minor,
    COALESCE(round(error_minor)::BIGINT, 0) AS error_minor,
    COALESCE(wrong_rounds, 0) AS wrong_rounds,
    COALESCE(round(wrong_minor)::BIGINT, 0) AS wrong_minor,
    COALESCE(round(underpaid_minor)::BIGINT, 0) AS underpaid_minor,
    {
        'luck_minor': COALESCE(luck, 0),
        'luck_squares': COALESCE(luck_luck, 0),
        'skill_minor': COALESCE(skill, 0)
    } AS parts,
    [*COLUMNS('^total_unit_')]::DOUBLE[] AS unit_totals,
    [*COLUMNS('^squares_unit_')]::DOUBLE[] AS unit_squares,
    [*COLUMNS('^fourths_unit_')]::DOUBLE[] AS unit_fourths,
    [*COLUMNS('^(chances|came|expected|variance)_')]::BIGINT[] AS counts,
    COALESCE(last_leaf, -1) AS last_leaf
FROM by_slice
ORDER BY game NULLS LAST, rules_digest, currency, bet <> 'main', bet, slice
