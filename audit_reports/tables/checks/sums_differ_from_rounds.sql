-- Of which bets and days do the sums by day differ from those of the rounds one by one?
WITH summed AS (
    SELECT rules_digest, currency, bet, state, day, MAX(last_leaf) AS leaf_index,
        SUM(rounds) AS rounds, SUM(initial) AS initial, SUM(staked) AS staked, SUM(paid) AS paid
    FROM daily_sums
    GROUP BY ALL
),

counted AS (
    SELECT rules_digest, currency, bet, state, COALESCE(closed_at, opened_at)::DATE AS day,
        MAX(last_leaf) AS leaf_index, COUNT(*) AS rounds, SUM(initial_minor) AS initial,
        SUM(staked_minor) AS staked, SUM(paid_minor) AS paid
    FROM round_bets
    WHERE mode = 'real'
    GROUP BY ALL
)

SELECT * FROM ((FROM summed EXCEPT FROM counted) UNION ALL (FROM counted EXCEPT FROM summed))
ORDER BY ALL
