-- Which bets did a closed round never settle?
SELECT round, hand, bet, stake_minor, leaf_index
FROM bets JOIN rounds USING (first_leaf)
WHERE state = 'closed' AND bets.paid_minor IS NULL
ORDER BY leaf_index
