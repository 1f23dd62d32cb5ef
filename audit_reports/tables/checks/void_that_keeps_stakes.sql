-- Of which bets did a void keep a part of the stake, which no decision gave back since?
WITH decided AS (
    SELECT round, hand, bet, SUM(COALESCE(refunded_minor, paid_minor - paid_before_minor)) AS moved
    FROM disputes
    WHERE event IN ('Refunded', 'BetResettled')
    GROUP BY round, hand, bet
)

SELECT round, hand, bet, bets.stake_minor, bets.paid_minor, bets.refunded_minor, leaf_index
FROM bets JOIN rounds USING (first_leaf) LEFT JOIN decided USING (round, hand, bet)
WHERE
    bets.refunded_minor + COALESCE(bets.paid_minor, 0) + COALESCE(moved, 0) < bets.stake_minor
    -- Where the wallet took another amount, that is what goes back; a check of its own names it.
    AND round NOT IN (SELECT round FROM wallet_differences WHERE direction = 'debit')
ORDER BY leaf_index
