-- Which bets were settled in a round that was voided, so that they were paid and refunded?
SELECT round, hand, bet, bets.paid_minor, refunded_minor, leaf_index
FROM bets JOIN rounds USING (first_leaf)
WHERE state = 'void' AND bets.paid_minor IS NOT NULL
ORDER BY leaf_index
