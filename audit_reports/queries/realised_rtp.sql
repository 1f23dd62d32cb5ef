-- What did each bet take and return, under each rule set and in each currency, for real money?
-- Hands of one round are taken together first, since they share their cards: the last three sums
-- over the rounds' wins and initial stakes yield the variance. Voided and open rounds stand apart.
-- What disputes decided counts: a resettled bet as it was paid in the end, and a round of which a
-- decision refunded stakes as void.
WITH resettled AS (
    SELECT round, hand, bet, arg_max(paid_minor, leaf_index) AS corrected_minor
    FROM decisions
    WHERE paid_minor IS NOT NULL
    GROUP BY round, hand, bet
),

refunded AS (
    SELECT DISTINCT round FROM decisions WHERE refunded_minor IS NOT NULL
),

decided AS (
    SELECT rounds.* REPLACE (IF(refunded.round IS NULL, state, 'void') AS state)
    FROM rounds LEFT JOIN refunded ON rounds.round = refunded.round
),

paid AS (
    SELECT bets.* REPLACE (COALESCE(corrected_minor, bets.paid_minor) AS paid_minor)
    FROM bets
    JOIN rounds USING (first_leaf)
    LEFT JOIN resettled
        ON rounds.round = resettled.round
        AND bets.hand = resettled.hand
        AND bets.bet = resettled.bet
)

SELECT
    game,
    rules_digest,
    currency,
    bet,
    COUNT(*) FILTER (state = 'closed') AS rounds,
    SUM(bets) FILTER (state = 'closed') AS bets,
    SUM(initial) FILTER (state = 'closed') AS initial_stake_minor,
    SUM(staked) FILTER (state = 'closed') AS staked_minor,
    SUM(paid) FILTER (state = 'closed') AS paid_minor,
    COUNT(*) FILTER (state = 'void') AS voided_rounds,
    SUM(staked) FILTER (state = 'void') AS voided_stake_minor,
    COUNT(*) FILTER (state = 'open') AS open_rounds,
    SUM(held) FILTER (state = 'open') AS held_stake_minor,
    SUM((paid - staked)::HUGEINT * (paid - staked)) FILTER (state = 'closed') AS sum_win_win,
    SUM((paid - staked)::HUGEINT * initial) FILTER (state = 'closed') AS sum_win_initial,
    SUM(initial::HUGEINT * initial) FILTER (state = 'closed') AS sum_initial_initial
FROM (
    SELECT
        first_leaf,
        bet,
        COUNT(*) AS bets,
        SUM(initial_stake_minor)::BIGINT AS initial,
        SUM(stake_minor)::BIGINT AS staked,
        COALESCE(SUM(paid_minor), 0)::BIGINT AS paid,
        COALESCE(SUM(stake_minor) FILTER (paid_minor IS NULL), 0) AS held
    FROM paid
    GROUP BY first_leaf, bet
)
JOIN decided USING (first_leaf)
LEFT JOIN rule_sets USING (rules_digest)
WHERE mode = 'real'
GROUP BY game, rules_digest, currency, bet
ORDER BY game, rules_digest, currency, bet <> 'main', bet
