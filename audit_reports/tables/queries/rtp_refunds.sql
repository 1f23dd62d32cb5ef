-- Of which bets did something go back that is neither the whole stake nor nothing, and how much?
-- One row for each game, rules digest, currency and bet. Such bets were played: what went back is counted
-- as paid. `leaf_index` is the first leaf of the first such round.
SELECT
    ANY_VALUE(game) AS game,
    rules_digest,
    currency,
    bet,
    COUNT(*) AS rounds,
    SUM(part_back_minor)::BIGINT AS back_minor,
    SUM(staked_minor)::BIGINT AS staked_minor,
    MIN(first_leaf) AS leaf_index
FROM round_bets
WHERE
    mode = 'real'
    AND part_back_minor IS NOT NULL
    AND is_within(COALESCE(closed_at, opened_at), $begin::TIMESTAMP, $end::TIMESTAMP)
GROUP BY rules_digest, currency, bet
ORDER BY game NULLS LAST, rules_digest, currency, bet <> 'main', bet
