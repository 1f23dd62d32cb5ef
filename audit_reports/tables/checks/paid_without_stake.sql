-- Which bets were paid though nothing was staked on them?
SELECT round, hand, bet, bets.stake_minor, bets.paid_minor, leaf_index
FROM bets JOIN rounds USING (first_leaf)
WHERE bets.paid_minor > 0 AND bets.stake_minor <= 0
ORDER BY leaf_index
