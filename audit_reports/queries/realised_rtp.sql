-- What did each bet take and return, under each rule set and in each currency, for real money?
-- Hands of one round are taken together, since they share their cards: the last three sums over the
-- rounds' wins and initial stakes yield the variance. Voided and open rounds stand apart. What
-- disputes decided counts: a resettled bet as it was paid in the end, and a round of which a decision
-- refunded stakes as void.
SELECT
    game,
    rules_digest,
    currency,
    bet,
    COUNT(*) FILTER (state = 'closed') AS rounds,
    SUM(hands) FILTER (state = 'closed') AS bets,
    SUM(initial_minor) FILTER (state = 'closed') AS initial_stake_minor,
    SUM(staked_minor) FILTER (state = 'closed') AS staked_minor,
    SUM(paid_minor) FILTER (state = 'closed') AS paid_minor,
    COUNT(*) FILTER (state = 'void') AS voided_rounds,
    SUM(staked_minor) FILTER (state = 'void') AS voided_stake_minor,
    COUNT(*) FILTER (state = 'open') AS open_rounds,
    SUM(held_minor) FILTER (state = 'open') AS held_stake_minor,
    SUM((paid_minor - staked_minor)::HUGEINT * (paid_minor - staked_minor))
        FILTER (state = 'closed') AS sum_win_win,
    SUM((paid_minor - staked_minor)::HUGEINT * initial_minor) FILTER (state = 'closed')
        AS sum_win_initial,
    SUM(initial_minor::HUGEINT * initial_minor) FILTER (state = 'closed') AS sum_initial_initial
FROM round_bets
WHERE mode = 'real'
GROUP BY game, rules_digest, currency, bet
ORDER BY game, rules_digest, currency, bet <> 'main', bet
