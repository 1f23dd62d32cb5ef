-- Which bets were not paid as the rules say, or were paid otherwise after a dispute?
SELECT
    first_leaf AS leaf_index,
    round,
    game,
    rules_digest,
    currency,
    bet,
    table_name AS "table",
    closed_at,
    recorded_paid_minor,
    paid_minor,
    round(error_minor)::BIGINT AS error_minor,
    resettled,
    start_minor IS NOT NULL AS is_followed
FROM round_bets
WHERE
    mode = 'real'
    AND state = 'closed'
    AND (resettled OR COALESCE(wrong_hands, 0) > 0)
    AND is_within(closed_at, $begin::TIMESTAMP, $end::TIMESTAMP)
ORDER BY first_leaf, bet <> 'main', bet
