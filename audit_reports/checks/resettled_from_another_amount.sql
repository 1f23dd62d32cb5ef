-- Which resettlements begin from another payment than the one before them?
SELECT round, hand, bet, paid_before_minor, before_minor, leaf_index
FROM (
    SELECT
        disputes.*,
        COALESCE(
            LAG(disputes.paid_minor) OVER (
                PARTITION BY round, hand, bet ORDER BY disputes.leaf_index
            ),
            bets.paid_minor,
            0
        ) AS before_minor
    FROM disputes
    JOIN rounds USING (round)
    LEFT JOIN bets USING (first_leaf, hand, bet)
    WHERE event = 'BetResettled'
)
WHERE paid_before_minor <> before_minor
ORDER BY leaf_index
