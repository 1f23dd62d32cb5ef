-- What was paid beyond what is due, awarded by an adjudicator or given in goodwill, for real money?
-- `remedy` is that of the decision it was paid by; `moved_minor` is what the wallet moved, where that is
-- another amount. `round` is a complaint, without a game, where no single round was complained of.
SELECT
    disputes.leaf_index,
    disputes.recorded_at AS at,
    disputes.round,
    rounds.game,
    disputes.currency,
    disputes.hand,
    disputes.bet,
    disputes.amount_minor,
    moved_minor,
    decision.remedy
FROM disputes
LEFT JOIN rounds USING (round)
LEFT JOIN wallet_differences AS moved ON disputes.leaf_index = moved.leaf_index
ASOF LEFT JOIN (FROM disputes WHERE event = 'DisputeDecided') AS decision
    ON disputes.round = decision.round AND disputes.leaf_index > decision.leaf_index
WHERE
    disputes.event = 'Awarded'
    AND mode IS DISTINCT FROM 'fun'
    AND is_within(disputes.recorded_at, $begin::TIMESTAMP, $end::TIMESTAMP)
ORDER BY disputes.leaf_index
