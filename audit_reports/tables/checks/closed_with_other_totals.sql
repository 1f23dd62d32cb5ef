-- Which rounds closed with other totals than their settled bets come to?
WITH suspects AS (
    -- The sums of a round are those of its settled bets, unless one of its bets was never settled.
    SELECT *
    FROM rounds
    WHERE
        state = 'closed'
        AND (
            closed_staked_minor <> staked_minor
            OR closed_paid_minor <> paid_minor
            OR first_leaf IN (SELECT first_leaf FROM bets WHERE paid_minor IS NULL)
        )
)

SELECT
    round,
    closed_staked_minor,
    COALESCE(SUM(bets.stake_minor) FILTER (bets.paid_minor IS NOT NULL), 0) AS settled_staked_minor,
    closed_paid_minor,
    COALESCE(SUM(bets.paid_minor), 0) AS settled_paid_minor,
    last_leaf AS leaf_index
FROM suspects LEFT JOIN bets USING (first_leaf)
GROUP BY first_leaf, round, closed_staked_minor, closed_paid_minor, last_leaf
HAVING closed_staked_minor <> settled_staked_minor OR closed_paid_minor <> settled_paid_minor
ORDER BY leaf_index
