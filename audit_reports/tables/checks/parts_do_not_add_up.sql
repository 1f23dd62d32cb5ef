-- Of which bets do start, luck, skill and error not add up to what was returned, to a million-millionth
-- of the stake?
SELECT round, bet, initial_minor + recorded_paid_minor - staked_minor AS returned_minor,
    start_minor + error_minor + list_sum([*COLUMNS('^(luck|skill)_')]) AS parts_minor
FROM round_bets
WHERE start_minor IS NOT NULL AND ABS(returned_minor - parts_minor) > 1e-6 + 1e-12 * initial_minor
ORDER BY first_leaf
