-- Which bets were settled on a stake other than the one laid for them, doubles and splits included?
SELECT round, hand, bet, laid_minor, bets.stake_minor AS settled_minor, leaf_index
FROM bets JOIN rounds USING (first_leaf)
WHERE bets.paid_minor IS NOT NULL AND laid_minor <> bets.stake_minor
ORDER BY leaf_index
