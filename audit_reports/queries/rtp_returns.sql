-- How often did each side bet return how much for each unit staked on it, day by day?
-- The return is a fraction in lowest terms, all hands of a round taken together.
SELECT
    game,
    rules_digest,
    currency,
    bet,
    closed_at::DATE AS day,
    paid_minor // greatest(gcd(paid_minor, staked_minor), 1) AS numerator,
    staked_minor // greatest(gcd(paid_minor, staked_minor), 1) AS denominator,
    COUNT(*) AS rounds
FROM round_bets
WHERE
    mode = 'real'
    AND state = 'closed'
    AND bet NOT IN ('main', 'insurance')
    AND staked_minor > 0
    AND ($begin::TIMESTAMP IS NULL OR closed_at >= $begin)
    AND ($end::TIMESTAMP IS NULL OR closed_at < $end)
GROUP BY ALL
ORDER BY ALL
