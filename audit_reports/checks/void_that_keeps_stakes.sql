-- Which voided rounds gave back another amount than was staked?
SELECT round, staked_minor, refunded_minor, last_leaf AS leaf_index
FROM rounds
WHERE state = 'void' AND refunded_minor <> staked_minor
ORDER BY leaf_index
