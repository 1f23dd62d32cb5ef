-- Which movements of real money does the wallet say there were in rounds played for fun?
SELECT wallet_differences.* EXCLUDE (first_leaf, checkpoint_size)
FROM wallet_differences JOIN rounds USING (round)
WHERE mode = 'fun'
ORDER BY leaf_index
