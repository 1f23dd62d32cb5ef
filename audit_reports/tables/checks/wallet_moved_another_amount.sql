-- Which movements of money does the wallet say were of other amounts than were booked?
SELECT wallet_differences.* EXCLUDE (first_leaf, checkpoint_size)
FROM wallet_differences LEFT JOIN rounds USING (round)
WHERE mode IS DISTINCT FROM 'fun'
ORDER BY leaf_index
