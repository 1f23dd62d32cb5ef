-- How did each bet's sums grow, in some eighty steps that get longer as the rounds get many?
-- For the chart alone: a step is a quarter of a doubling of the leaves since the bet's first round.
WITH chosen AS NOT MATERIALIZED (
    SELECT *
    FROM round_bets
    WHERE
        mode = 'real'
        AND state = 'closed'
        AND is_within(closed_at, $begin::TIMESTAMP, $end::TIMESTAMP)
),

firsts AS (
    SELECT rules_digest, currency, bet, MIN(first_leaf) AS first
    FROM chosen
    GROUP BY rules_digest, currency, bet
)

SELECT
    game,
    rules_digest,
    currency,
    bet,
    floor(4 * log2(1 + first_leaf - first))::BIGINT AS step,
    {
        'rounds': COUNT(*),
        'initial': SUM(initial_minor)::BIGINT,
        'staked': SUM(staked_minor)::BIGINT,
        'paid': SUM(paid_minor)::BIGINT,
        'initial_initial': SUM(initial_minor::HUGEINT * initial_minor)::HUGEINT,
        'win_initial': SUM((paid_minor - staked_minor)::HUGEINT * initial_minor)::HUGEINT,
        'win_win':
            SUM((paid_minor - staked_minor)::HUGEINT * (paid_minor - staked_minor))::HUGEINT
    } AS sums
FROM chosen
JOIN firsts USING (rules_digest, currency, bet)
GROUP BY ALL
ORDER BY ALL
