-- Of the rounds that were opened, how many count, and what became of the others?
-- One row for each game, rules digest and currency. `opened` is the sum of the five that follow: `counted`
-- ended with a bet that was played, `void` with none, `open` have not ended, `fun` are not for real money,
-- and `unstaked` ended without any stake.
SELECT
    ANY_VALUE(game) AS game,
    rules_digest,
    currency,
    COUNT(*) AS opened,
    COUNT_IF(mode = 'real' AND state <> 'open' AND COALESCE(is_played, false)) AS counted,
    COUNT_IF(mode = 'real' AND state <> 'open' AND NOT COALESCE(is_played, true)) AS void,
    COUNT_IF(mode = 'real' AND state = 'open') AS open,
    COUNT_IF(mode <> 'real') AS fun,
    COUNT_IF(mode = 'real' AND state <> 'open' AND is_played IS NULL) AS unstaked
FROM rounds
LEFT JOIN (
    SELECT first_leaf, bool_or(state = 'closed') AS is_played FROM round_bets GROUP BY first_leaf
) USING (first_leaf)
WHERE is_within(COALESCE(closed_at, opened_at), $begin::TIMESTAMP, $end::TIMESTAMP)
GROUP BY rules_digest, currency
ORDER BY game NULLS LAST, rules_digest, currency
