-- Of which bets, for real money or for fun, did the wallet move other amounts than were booked?
-- One row for each round and bet. `net_minor` is what players were moved more than is counted, less where
-- it is below zero; what was booked to make up for it, by a decision or a void, is in it, and
-- `is_put_right` says that this was all. A deal of several bets, a held win, and stakes given back that
-- were taken beyond those booked (`surplus_debit`) stand with the main bet. `is_counted` is whether the
-- bet is in the return.
WITH differs AS (
    SELECT
        round,
        IF(COALESCE(bet, 'surplus_debit') = 'surplus_debit', 'main', bet) AS bet,
        MIN(leaf_index) AS leaf_index,
        COUNT(*) AS movements,
        SUM(IF(direction = 'credit', 1, -1) * (moved_minor - booked_minor))::BIGINT AS more_minor
    FROM wallet_differences
    WHERE event <> 'Awarded'
    GROUP BY ALL
),

moves AS (
    SELECT
        round,
        bet,
        COALESCE(bets.paid_minor, 0) + COALESCE(bets.refunded_minor, 0) AS booked_minor
    FROM bets JOIN rounds USING (first_leaf) SEMI JOIN differs USING (round)
    UNION ALL
    SELECT
        round,
        IF(bet = 'surplus_debit', 'main', bet) AS bet,
        COALESCE(refunded_minor, paid_minor - paid_before_minor) AS booked_minor
    FROM disputes SEMI JOIN differs USING (round)
    WHERE event IN ('Refunded', 'BetResettled')
),

booked AS (
    SELECT round, bet, SUM(booked_minor)::BIGINT AS booked_minor FROM moves GROUP BY round, bet
),

-- A void bet has its stake back, which is to be booked and is in no return.
counted AS (
    SELECT
        round,
        bet,
        SUM(IF(state = 'void', staked_minor, paid_minor))::BIGINT AS counted_minor,
        bool_or(state = 'closed') AS is_counted
    FROM round_bets SEMI JOIN differs USING (round)
    GROUP BY round, bet
)

SELECT
    leaf_index,
    round,
    game,
    rules_digest,
    currency,
    mode,
    bet,
    table_name AS "table",
    closed_at,
    movements,
    more_minor + COALESCE(booked_minor - counted_minor, 0) AS net_minor,
    net_minor = 0 AND more_minor <> 0 AS is_put_right,
    COALESCE(is_counted, false) AS is_counted
FROM differs
JOIN rounds USING (round)
LEFT JOIN booked USING (round, bet)
LEFT JOIN counted USING (round, bet)
WHERE is_within(COALESCE(closed_at, opened_at), $begin::TIMESTAMP, $end::TIMESTAMP)
ORDER BY leaf_index, bet
