-- Which bets were voided, and what would the rules have paid on each?
SELECT
    first_leaf AS leaf_index,
    round,
    game,
    rules_digest,
    currency,
    bet,
    table_name AS "table",
    closed_at,
    staked_minor,
    would_have_paid_minor
FROM round_bets
WHERE
    mode = 'real'
    AND state = 'void'
    AND is_within(COALESCE(closed_at, opened_at), $begin::TIMESTAMP, $end::TIMESTAMP)
ORDER BY first_leaf, bet <> 'main', bet
