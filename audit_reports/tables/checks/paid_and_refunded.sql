-- Which bets did a void give back more than their stake, less what they had been paid before?
SELECT round, hand, bet, bets.stake_minor, bets.paid_minor, bets.refunded_minor, leaf_index
FROM bets JOIN rounds USING (first_leaf)
WHERE
    bets.refunded_minor > GREATEST(bets.stake_minor - COALESCE(bets.paid_minor, 0), 0)
    -- Where the wallet took another amount, that is what goes back; a check of its own names it.
    AND round NOT IN (SELECT round FROM wallet_differences WHERE direction = 'debit')
ORDER BY leaf_index
