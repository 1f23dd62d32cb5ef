-- Which refunds and resettlements are of a bet that its round, though it was dealt, does not have?
SELECT
    round,
    hand,
    bet,
    COALESCE(decided.refunded_minor, decided.paid_minor - paid_before_minor) AS moved_minor,
    decided.leaf_index
FROM disputes AS decided JOIN rounds USING (round) LEFT JOIN bets USING (first_leaf, hand, bet)
WHERE
    decided.event IN ('Refunded', 'BetResettled')
    AND dealt_at IS NOT NULL
    AND bets.first_leaf IS NULL
    -- What was debited beyond every stake stands by this name.
    AND bet <> 'surplus_debit'
ORDER BY decided.leaf_index
