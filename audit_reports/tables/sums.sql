-- How rounds are summed by day, so that a table of returns reads few rows. `bets` names a relation
-- with the columns of `round_bets`. Play for fun is left out. A day is one in UTC, by when a round
-- ended, or was opened where it has not. Squares and products are HUGEINT, which amounts below 2^53
-- cannot overflow unnoticed: a sum too large is an error.

-- Rounds of a mode, `real` or `fun`, with their luck for each unit of initial stake beside that in money, such as
-- `unit_hit`: stakes come before cards, so that it has mean zero too, and no stake weighs more than
-- another. It is in whole millionths, whose sums are the same in any order; what is beyond 10,000 stakes
-- comes of absurd values that a ledger may record, and is cut off there, so that its powers can be summed.
-- `luck_all` and `unit_all` are those of all kinds together.
CREATE OR REPLACE TEMP MACRO with_units(bets, wanted_mode) AS TABLE
SELECT
    *,
    list_sum([*COLUMNS('^luck_')]) AS luck_all,
    list_sum(list_transform([*COLUMNS('^luck_')], lambda x: x * x)) AS squares_of_luck,
    CASE WHEN ABS(COLUMNS('^luck_(.*)$')) < 1e4 * initial_minor
        THEN round(COLUMNS('^luck_(.*)$') / initial_minor * 1000000)
        ELSE sign(COLUMNS('^luck_(.*)$')) * 10000000000
    END::BIGINT AS 'unit_\1',
    CASE WHEN ABS(luck_all) < 1e4 * initial_minor
        THEN round(luck_all / initial_minor * 1000000)
        ELSE sign(luck_all) * 10000000000
    END::BIGINT AS unit_all
FROM query_table(bets)
WHERE mode = wanted_mode;

-- One row per game, rules digest, currency, bet, day, table, channel, player, stake band and state, and
-- per ledger where `bets` names it.
-- `stake_band` is the power of ten, in minor units, of the round's initial stake. The seven sums from
-- `rounds` to `win_win` are those of `statistics.BetSums`, all hands of a round together.
-- `followed_rounds` could be taken apart, with `followed_minor` of initial stakes, `unfollowed_rounds`
-- could not though they were played out; `wrong_rounds`
-- were not paid as the rules say and stay so (a part of a stake that went back mends nothing), by `wrong_minor` in all: `underpaid_minor` is what hands
-- of them were paid too little, and the sum of both what others were paid too much. Cash and incentive stakes are null where no round
-- records them. `luck` and `skill` are those of all kinds; `luck_luck` has the squares of each kind,
-- which add up because no kind goes with another. Of each kind x for a unit of stake there are Σx, Σx²
-- and Σx⁴ (`total_unit_hit` and so on), in millionths, their squares, and squares of squares in millionths.
-- Counted events are summed. `first_leaf` and `last_leaf` are the first and the last of its rounds' leaves.
CREATE OR REPLACE TEMP MACRO sums_by_day(bets) AS TABLE
WITH of_rounds AS (
    SELECT
        *,
        initial_minor::HUGEINT AS s,
        staked_minor::HUGEINT AS t,
        paid_minor::HUGEINT AS p,
        start_minor IS NOT NULL AS is_followed,
        list_sum([*COLUMNS('^skill_')]) AS skill,
        COALESCE(wrong_hands, 0) > 0 AND (NOT resettled OR part_back_minor IS NOT NULL) AS is_wrong
    FROM with_units(bets, 'real')
)

SELECT
    COLUMNS('^(game|rules_digest|currency|bet|ledger)$'),
    COALESCE(closed_at, opened_at)::DATE AS day,
    table_name,
    channel,
    player,
    (length(initial_minor::VARCHAR) - 1)::TINYINT AS stake_band,
    state,
    COUNT(*) AS rounds,
    SUM(s)::BIGINT AS initial,
    SUM(t)::BIGINT AS staked,
    SUM(p)::BIGINT AS paid,
    SUM(s * s) AS initial_initial,
    SUM((p - t) * s) AS win_initial,
    SUM((p - t) * (p - t)) AS win_win,
    SUM(hands)::BIGINT AS hands,
    SUM(held_minor)::BIGINT AS held_minor,
    COUNT_IF(resettled)::BIGINT AS resettled_rounds,
    SUM(paid_minor - recorded_paid_minor)::BIGINT AS resettled_minor,
    SUM(cash_staked_minor)::BIGINT AS cash_minor,
    SUM(incentive_staked_minor)::BIGINT AS incentive_minor,
    COUNT_IF(is_followed)::BIGINT AS followed_rounds,
    COUNT_IF(played_out AND NOT is_followed)::BIGINT AS unfollowed_rounds,
    COALESCE(SUM(initial_minor) FILTER (is_followed), 0)::BIGINT AS followed_minor,
    COALESCE(SUM(start_minor ORDER BY first_leaf), 0) AS start_minor,
    COALESCE(SUM(luck_all ORDER BY first_leaf), 0) AS luck,
    COALESCE(SUM(squares_of_luck ORDER BY first_leaf), 0) AS luck_luck,
    COALESCE(SUM(skill ORDER BY first_leaf), 0) AS skill,
    COALESCE(SUM(error_minor ORDER BY first_leaf) FILTER (is_followed), 0) AS error_minor,
    COUNT_IF(is_wrong)::BIGINT AS wrong_rounds,
    COALESCE(SUM(error_minor ORDER BY first_leaf) FILTER (is_wrong), 0) AS wrong_minor,
    COALESCE(SUM(underpaid_minor ORDER BY first_leaf) FILTER (is_wrong), 0) AS underpaid_minor,
    SUM(COLUMNS('^unit_'))::BIGINT AS 'total_\0',
    SUM(COLUMNS('^unit_')::HUGEINT * COLUMNS('^unit_')) AS 'squares_\0',
    SUM((COLUMNS('^unit_')::HUGEINT * COLUMNS('^unit_') // 1000000)
        * (COLUMNS('^unit_')::HUGEINT * COLUMNS('^unit_') // 1000000)) AS 'fourths_\0',
    SUM(COLUMNS('^(chances|came|expected|variance)_'))::BIGINT AS '\0',
    MIN(first_leaf) AS first_leaf,
    MAX(last_leaf) AS last_leaf
FROM of_rounds
GROUP BY ALL;

-- One row per game, rules digest, currency, bet and day: of the closed rounds that could be followed
-- and each part x of luck and skill, in how many it was not nil, and the sums of x, of x² and, for
-- luck, of x⁴, in minor units and their powers, such as `squares_luck_hit`; what is within a billionth of
-- the stake is nil, since a fraction of a large stake is not more exact. Luck for a unit of stake and counted
-- events are summed as in `sums_by_day`. The last places of a sum of fractions depend on its order, which
-- is therefore that of the rounds.
CREATE OR REPLACE TEMP MACRO luck_by_day(bets) AS TABLE
SELECT
    game,
    rules_digest,
    currency,
    bet,
    closed_at::DATE AS day,
    COUNT_IF(ABS(COLUMNS('^(luck|skill)_')) > 1e-9 * GREATEST(initial_minor, 1))::BIGINT
        AS 'moved_\0',
    COUNT_IF(COLUMNS('^unit_') <> 0)::BIGINT AS 'moved_\0',
    SUM(COLUMNS('^(luck|skill)_') ORDER BY first_leaf) AS 'total_\0',
    SUM(COLUMNS('^(luck|skill)_') * COLUMNS('^(luck|skill)_') ORDER BY first_leaf)
        AS 'squares_\0',
    SUM((COLUMNS('^luck_') * COLUMNS('^luck_')) * (COLUMNS('^luck_') * COLUMNS('^luck_'))
        ORDER BY first_leaf) AS 'fourths_\0',
    SUM(COLUMNS('^unit_'))::BIGINT AS 'total_\0',
    SUM(COLUMNS('^unit_')::HUGEINT * COLUMNS('^unit_')) AS 'squares_\0',
    SUM((COLUMNS('^unit_')::HUGEINT * COLUMNS('^unit_') // 1000000)
        * (COLUMNS('^unit_')::HUGEINT * COLUMNS('^unit_') // 1000000)) AS 'fourths_\0',
    SUM(COLUMNS('^(chances|came|expected|variance)_'))::BIGINT AS '\0',
    MIN(first_leaf) AS first_leaf,
    MAX(last_leaf) AS last_leaf
FROM with_units(bets, 'real')
WHERE state = 'closed' AND start_minor IS NOT NULL
GROUP BY game, rules_digest, currency, bet, day;

-- Whether a moment is in a period, null being no bound, and whether all of a day is. What is asked
-- of a period are the sums of its whole days, and the rounds of the days that it has a part of.
CREATE OR REPLACE TEMP MACRO is_within(moment, begins, ends) AS
    (begins IS NULL OR moment >= begins) AND (ends IS NULL OR moment < ends);

CREATE OR REPLACE TEMP MACRO is_whole_day(day, begins, ends) AS
    (begins IS NULL OR day >= begins) AND (ends IS NULL OR day + INTERVAL 1 DAY <= ends);

-- A moment of UTC as clocks of a zone show it, which stay within the calendar, and whether figures by
-- these names are by days of UTC, or by none.
CREATE OR REPLACE TEMP MACRO on_clocks_of(moment, zone) AS
    CASE WHEN moment IS NOT NULL THEN GREATEST(
        LEAST(timezone(zone, timezone('UTC', moment)), TIMESTAMP '9999-12-31 23:59:59'),
        TIMESTAMP '0001-01-01 00:00:00'
    ) END;

CREATE OR REPLACE TEMP MACRO are_days_of_utc(names, zone) AS
    zone = 'UTC' OR NOT list_has_any(names::VARCHAR[], ['day', 'week', 'month']);
