-- Of the bets that are `$state`, `void` or `open`, how many would have won, and how often is such a bet won?
-- One row for each game, rules digest, currency and bet. `known` bets, on `known_staked_minor`, would have
-- been paid `known_paid_minor`. Of them `ended` are of rounds that wanted no more of anybody's decisions,
-- `won` of which would have been paid more than was staked. `played` were settled and kept until the last
-- such round ended, `played_won` of them won: so no look at the same voids has another answer later.
WITH voided AS (
    SELECT
        ANY_VALUE(game) AS game,
        rules_digest,
        currency,
        bet,
        COUNT(*) AS voided,
        COUNT(would_have_paid_minor) AS known,
        COALESCE(SUM(staked_minor) FILTER (would_have_paid_minor IS NOT NULL), 0)::BIGINT
            AS known_staked_minor,
        COALESCE(SUM(would_have_paid_minor), 0)::BIGINT AS known_paid_minor,
        COUNT(would_have_won) AS ended,
        COUNT_IF(COALESCE(would_have_won, false)) AS won,
        MAX(last_leaf) FILTER (would_have_won IS NOT NULL) AS until
    FROM round_bets
    WHERE
        mode = 'real'
        AND state = $state
        AND is_within(COALESCE(closed_at, opened_at), $begin::TIMESTAMP, $end::TIMESTAMP)
    GROUP BY rules_digest, currency, bet
),

played AS (
    SELECT
        rules_digest,
        currency,
        bet,
        COUNT(*) AS played,
        COUNT_IF(recorded_paid_minor > staked_minor) AS played_won
    FROM voided JOIN round_bets USING (rules_digest, currency, bet)
    WHERE
        mode = 'real'
        AND state = 'closed'
        AND played_out
        AND last_leaf <= until
        AND is_within(closed_at, $begin::TIMESTAMP, $end::TIMESTAMP)
    GROUP BY ALL
)

SELECT
    voided.* EXCLUDE (until),
    COALESCE(played, 0) AS played,
    COALESCE(played_won, 0) AS played_won
FROM voided LEFT JOIN played USING (rules_digest, currency, bet)
ORDER BY game NULLS LAST, rules_digest, currency, bet <> 'main', bet
