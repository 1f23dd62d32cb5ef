-- How often did each side bet return how much for each unit staked on it, day by day?
-- The return is a fraction in lowest terms, all hands of a round taken together. Of a bet that a
-- dispute made be paid otherwise it is what the rules pay: a decision is not luck. So rounds that were
-- voided are left out, what is settled in them among it. Days are those of `$zone`.
WITH returned AS (
    SELECT
        *,
        IF(resettled, recorded_paid_minor - round(error_minor)::BIGINT, paid_minor) AS returned_minor
    FROM round_bets
    WHERE
        mode = 'real'
        AND state = 'closed'
        AND played_out
        AND bet NOT IN ('main', 'insurance')
        AND staked_minor > 0
        AND is_within(closed_at, $begin::TIMESTAMP, $end::TIMESTAMP)
)

SELECT
    game,
    rules_digest,
    currency,
    bet,
    on_clocks_of(closed_at, $zone)::DATE AS day,
    returned_minor // greatest(gcd(returned_minor, staked_minor), 1) AS numerator,
    staked_minor // greatest(gcd(returned_minor, staked_minor), 1) AS denominator,
    COUNT(*) AS rounds
FROM returned
WHERE returned_minor IS NOT NULL
GROUP BY ALL
ORDER BY ALL
