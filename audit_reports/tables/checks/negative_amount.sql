-- Which bets have a stake or a payment below zero?
SELECT round, hand, bet, bets.stake_minor, bets.paid_minor, leaf_index
FROM bets JOIN rounds USING (first_leaf)
WHERE bets.stake_minor < 0 OR initial_stake_minor < 0 OR bets.paid_minor < 0
ORDER BY leaf_index
