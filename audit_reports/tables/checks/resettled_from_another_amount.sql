-- Which resettlements begin from neither the payments before them nor what the wallet moved of these?
WITH numbered AS (
    SELECT
        *,
        -- Refunds have no such total, so that those since a resettlement have its number.
        LAG(paid_minor IGNORE NULLS) OVER in_order AS corrected_minor,
        LAG(IF(paid_minor IS NULL, NULL, leaf_index) IGNORE NULLS) OVER in_order AS corrected_at
    FROM disputes
    WHERE event IN ('Refunded', 'BetResettled')
    WINDOW in_order AS (PARTITION BY round, hand, bet ORDER BY leaf_index)
),

begun AS (
    SELECT
        *,
        COALESCE(SUM(refunded_minor) OVER (PARTITION BY round, hand, bet, corrected_at), 0)
            AS returned_minor
    FROM numbered
),

resettled AS (
    SELECT
        round,
        hand,
        bet,
        begun.leaf_index,
        paid_before_minor,
        COALESCE(corrected_at, -1) AS since,
        COALESCE(corrected_minor, bets.paid_minor, 0) + returned_minor
            + IF(bets.leaf_index BETWEEN since AND begun.leaf_index, COALESCE(bets.refunded_minor, 0), 0)
            AS recorded_minor
    FROM begun JOIN rounds USING (round) LEFT JOIN bets USING (first_leaf, hand, bet)
    WHERE event = 'BetResettled'
),

by_wallet AS (
    SELECT resettled.leaf_index, SUM(other.moved_minor - booked_minor) AS more_minor
    FROM resettled JOIN wallet_differences AS other USING (round, hand, bet)
    WHERE direction = 'credit' AND other.leaf_index BETWEEN since AND resettled.leaf_index - 1
    GROUP BY resettled.leaf_index
)

SELECT round, hand, bet, paid_before_minor, recorded_minor AS before_minor, leaf_index
FROM resettled LEFT JOIN by_wallet USING (leaf_index)
WHERE paid_before_minor NOT IN (recorded_minor, recorded_minor + COALESCE(more_minor, 0))
ORDER BY leaf_index
