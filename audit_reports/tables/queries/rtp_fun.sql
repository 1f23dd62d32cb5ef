-- What luck had players in rounds for fun, for a unit of stake, day by day?
-- One row for each game, rules digest, currency and day (of `$zone`): of the main bets of closed rounds that
-- could be followed the sums of x, x² and x⁴, in whole millionths as in `sums.sql`.
SELECT
    ANY_VALUE(game) AS game,
    rules_digest,
    currency,
    on_clocks_of(closed_at, $zone)::DATE::VARCHAR AS day,
    COUNT(*) AS rounds,
    SUM(unit_all)::DOUBLE AS total,
    SUM(unit_all::HUGEINT * unit_all)::DOUBLE AS squares,
    SUM((unit_all::HUGEINT * unit_all // 1000000) * (unit_all::HUGEINT * unit_all // 1000000))::DOUBLE
        AS fourths
FROM with_units('round_bets', 'fun')
WHERE
    bet = 'main'
    AND state = 'closed'
    AND start_minor IS NOT NULL
    AND is_within(closed_at, $begin::TIMESTAMP, $end::TIMESTAMP)
GROUP BY rules_digest, currency, day
ORDER BY game NULLS LAST, rules_digest, currency, day
