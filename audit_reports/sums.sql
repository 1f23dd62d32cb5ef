-- How rounds are summed by day, so that a table of returns reads few rows. `bets` names a relation
-- with the columns of `round_bets`. Play for fun is left out. A day is one in UTC, by when a round
-- ended, or was opened where it has not. Squares and products are HUGEINT, which amounts below 2^53
-- cannot overflow unnoticed: a sum too large is an error.

-- One row per game, rules digest, currency, bet, day, table, channel, player, stake band and state.
-- `stake_band` is the power of ten, in minor units, of the round's initial stake. The seven sums from
-- `rounds` to `win_win` are those of `statistics.BetSums`, all hands of a round together.
-- `followed_rounds` could be taken apart, with `followed_minor` of initial stakes; `wrong_rounds`
-- were not paid as the rules say and stay so. Cash and incentive stakes are null where no round
-- records them. `luck` and `skill` are those of all kinds; `luck_luck` has the squares of each kind,
-- which add up because no kind goes with another. `first_leaf` and `last_leaf` are the first and the
-- last of its rounds' leaves.
CREATE OR REPLACE TEMP MACRO sums_by_day(bets) AS TABLE
WITH of_rounds AS (
    SELECT
        *,
        initial_minor::HUGEINT AS s,
        staked_minor::HUGEINT AS t,
        paid_minor::HUGEINT AS p,
        start_minor IS NOT NULL AS is_followed,
        list_sum([*COLUMNS('^luck_')]) AS luck,
        list_sum(list_transform([*COLUMNS('^luck_')], lambda x: x * x)) AS luck_luck,
        list_sum([*COLUMNS('^skill_')]) AS skill,
        COALESCE(wrong_hands, 0) > 0 AND NOT resettled AS is_wrong
    FROM query_table(bets)
    WHERE mode = 'real'
)

SELECT
    game,
    rules_digest,
    currency,
    bet,
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
    COALESCE(SUM(initial_minor) FILTER (is_followed), 0)::BIGINT AS followed_minor,
    COALESCE(SUM(start_minor ORDER BY first_leaf), 0) AS start_minor,
    COALESCE(SUM(luck ORDER BY first_leaf), 0) AS luck,
    COALESCE(SUM(luck_luck ORDER BY first_leaf), 0) AS luck_luck,
    COALESCE(SUM(skill ORDER BY first_leaf), 0) AS skill,
    COALESCE(SUM(error_minor ORDER BY first_leaf), 0) AS error_minor,
    COUNT_IF(is_wrong)::BIGINT AS wrong_rounds,
    COALESCE(SUM(error_minor ORDER BY first_leaf) FILTER (is_wrong), 0) AS wrong_minor,
    MIN(first_leaf) AS first_leaf,
    MAX(last_leaf) AS last_leaf
FROM of_rounds
GROUP BY game, rules_digest, currency, bet, day, table_name, channel, player, stake_band, state;

-- One row per game, rules digest, currency, bet and day: of the closed rounds that could be followed
-- and each part x of luck and skill, in how many it was not nil, and the sums of x, of x² and, for
-- luck, of x⁴, in minor units and their powers, such as `squares_luck_hit`. The last places of a sum
-- of fractions depend on its order, which is therefore that of the rounds.
CREATE OR REPLACE TEMP MACRO luck_by_day(bets) AS TABLE
SELECT
    game,
    rules_digest,
    currency,
    bet,
    closed_at::DATE AS day,
    COUNT_IF(ABS(COLUMNS('^(luck|skill)_')) > 1e-9)::BIGINT AS 'moved_\0',
    SUM(COLUMNS('^(luck|skill)_') ORDER BY first_leaf) AS 'total_\0',
    SUM(COLUMNS('^(luck|skill)_') * COLUMNS('^(luck|skill)_') ORDER BY first_leaf)
        AS 'squares_\0',
    SUM((COLUMNS('^luck_') * COLUMNS('^luck_')) * (COLUMNS('^luck_') * COLUMNS('^luck_'))
        ORDER BY first_leaf) AS 'fourths_\0',
    MIN(first_leaf) AS first_leaf,
    MAX(last_leaf) AS last_leaf
FROM query_table(bets)
WHERE mode = 'real' AND state = 'closed' AND start_minor IS NOT NULL
GROUP BY game, rules_digest, currency, bet, day;

-- Whether a moment is in a period, null being no bound, and whether all of a day is. What is asked
-- of a period are the sums of its whole days, and the rounds of the days that it has a part of.
CREATE OR REPLACE TEMP MACRO is_within(moment, begins, ends) AS
    (begins IS NULL OR moment >= begins) AND (ends IS NULL OR moment < ends);

CREATE OR REPLACE TEMP MACRO is_whole_day(day, begins, ends) AS
    (begins IS NULL OR day >= begins) AND (ends IS NULL OR day + INTERVAL 1 DAY <= ends);
