-- The projection's tables. Every row is derived from verified leaves and can be made again.
-- Amounts are integers in minor units of the round's currency, whose text says how many decimal places
-- it has where ISO 4217 does not (`EUR`, `BTC:8`): two of a code are two currencies. Times are
-- UTC, leaf indices 0-based.

-- One row per round, as recorded. `game` is the one its rules are for, null where the ledger held no
-- readable rules of that digest when it was opened. `staked_minor` and `paid_minor` are the sums over
-- its bets, `closed_staked_minor` and `closed_paid_minor` what its last event says they are, null of a
-- round that did not close; `refunded_minor` is what a voided round gave back. `dealt_at` is null until
-- the deal, `closed_at` until the end. `exponent` is how many decimal places a currency outside ISO 4217
-- has, null where the standard says. `shoe` is `as committed`, `broken` (another seed was revealed), `late`
-- (committed to after the stakes), `uncommitted` (never, or twice) or `unrevealed`; null where no card was
-- dealt, and of an open or void round whose seed is sealed. `seed_print` is a digest of the seed revealed.
CREATE OR REPLACE TABLE rounds (
    first_leaf BIGINT NOT NULL,
    last_leaf BIGINT NOT NULL,
    round VARCHAR NOT NULL,
    game VARCHAR,
    rules_digest VARCHAR NOT NULL,
    operator VARCHAR,
    table_name VARCHAR,
    channel VARCHAR,
    build VARCHAR,
    player VARCHAR NOT NULL,
    currency VARCHAR NOT NULL,
    mode VARCHAR NOT NULL,
    state VARCHAR NOT NULL,
    opened_at TIMESTAMP NOT NULL,
    dealt_at TIMESTAMP,
    closed_at TIMESTAMP,
    staked_minor BIGINT NOT NULL,
    paid_minor BIGINT NOT NULL,
    closed_staked_minor BIGINT,
    closed_paid_minor BIGINT,
    refunded_minor BIGINT,
    exponent INTEGER,
    shoe VARCHAR,
    seed_print BIGINT
);

-- One row per bet of a hand. `first_leaf` is that of its round; `leaf_index` is the last leaf that
-- said something of this bet. `laid_minor` is what was laid for it at the deal and by decisions, none
-- where nobody did, and `stake_minor` what it was settled on, until then what was laid. `paid_minor`, the
-- stake coming back included, and `line` are null until the bet is settled. A seat's main stake is the initial stake of its first hand alone. Cash and
-- incentive money are null where the wallet's answers do not tell them apart for this bet.
CREATE OR REPLACE TABLE bets (
    first_leaf BIGINT NOT NULL,
    leaf_index BIGINT NOT NULL,
    seat VARCHAR NOT NULL,
    hand VARCHAR NOT NULL,
    bet VARCHAR NOT NULL,
    initial_stake_minor BIGINT NOT NULL,
    laid_minor BIGINT NOT NULL,
    stake_minor BIGINT NOT NULL,
    cash_staked_minor BIGINT,
    incentive_staked_minor BIGINT,
    paid_minor BIGINT,
    cash_paid_minor BIGINT,
    incentive_paid_minor BIGINT,
    line VARCHAR,
    refunded_minor BIGINT,
    cash_refunded_minor BIGINT,
    incentive_refunded_minor BIGINT
);

-- One row per decision, and what the hand was last offered before it.
CREATE OR REPLACE TABLE decisions (
    first_leaf BIGINT NOT NULL,
    leaf_index BIGINT NOT NULL,
    round VARCHAR NOT NULL,
    recorded_at TIMESTAMP NOT NULL,
    hand VARCHAR NOT NULL,
    act VARCHAR NOT NULL,
    actor VARCHAR,
    reason VARCHAR,
    added_stake_minor BIGINT NOT NULL,
    legal VARCHAR[]
);

-- One row per card that left the shoe. `card` is null while it lies face down; `shown_leaf` is where
-- its face became known. `is_initial` marks a seat's first two cards, the dealer's first, and the
-- dealer's second where it fell face down: those that no decision of a player chose.
CREATE OR REPLACE TABLE cards (
    first_leaf BIGINT NOT NULL,
    leaf_index BIGINT NOT NULL,
    round VARCHAR NOT NULL,
    receiver VARCHAR NOT NULL,
    shoe_index BIGINT NOT NULL,
    card VARCHAR,
    shown_leaf BIGINT,
    is_initial BOOLEAN NOT NULL
);

-- One row per connection lost or restored, in a round, and per service or game stopped or started,
-- and alarm, in none.
CREATE OR REPLACE TABLE interruptions (
    leaf_index BIGINT NOT NULL,
    recorded_at TIMESTAMP NOT NULL,
    event VARCHAR NOT NULL,
    round VARCHAR,
    cause INTEGER NOT NULL,
    scope VARCHAR,
    note VARCHAR
);

-- One row per event of a case: DisputeOpened, ComplaintOpened, DisputeDecided (one for each key that
-- signed it), BetResettled, Refunded, Awarded. `round` is the round it is about, or the complaint, which
-- is about no single one: the rounds of `player` from `span_begin` to `span_end` in the zone `zone`, or a
-- round that the ledger does not hold (`missing_round`, for which `searched` was looked through).
-- `amount_minor` is what a decision moves in all, or what was awarded, in `currency`. `paid_minor` is what
-- a bet comes to after a resettlement, stake included; `refunded_minor` what went back of its stake.
-- `cash_minor` and `incentive_minor` are what the wallet answered, null where it did not. `received` is
-- when the complaint came in, null where that was when the case was opened.
CREATE OR REPLACE TABLE disputes (
    leaf_index BIGINT NOT NULL,
    recorded_at TIMESTAMP NOT NULL,
    event VARCHAR NOT NULL,
    round VARCHAR NOT NULL,
    claim VARCHAR,
    deadline VARCHAR,
    verdict VARCHAR,
    remedy VARCHAR,
    clause VARCHAR,
    reference VARCHAR,
    keys_needed INTEGER,
    amount_minor BIGINT,
    hand VARCHAR,
    bet VARCHAR,
    stake_minor BIGINT,
    paid_before_minor BIGINT,
    paid_minor BIGINT,
    refunded_minor BIGINT,
    cash_minor BIGINT,
    incentive_minor BIGINT,
    currency VARCHAR,
    case_number INTEGER,
    received VARCHAR,
    player VARCHAR,
    span_begin VARCHAR,
    span_end VARCHAR,
    zone VARCHAR,
    missing_round BOOLEAN,
    searched VARCHAR[]
);

-- One row per movement of money that the wallet says was another than was booked: a stake at the deal or
-- with a decision, a payment, a refund, an award, a held win released. `event` records it, for a bet of
-- a hand, which are null where it is for several bets or a sum. Of play for fun no money is booked.
-- `moved_minor` counts in the direction in which money was due. `first_leaf` is the round's, null of an
-- event outside of its stream; `round` may be a complaint. `funds.py` says what an answer is shown to move.
CREATE OR REPLACE TABLE wallet_differences (
    first_leaf BIGINT,
    leaf_index BIGINT NOT NULL,
    recorded_at TIMESTAMP NOT NULL,
    round VARCHAR NOT NULL,
    event VARCHAR NOT NULL,
    hand VARCHAR,
    bet VARCHAR,
    direction VARCHAR NOT NULL,
    booked_minor BIGINT NOT NULL,
    moved_minor BIGINT NOT NULL,
    answer VARCHAR
);

-- One row per round and bet that could be taken apart (replay/luck): closed rounds that the rules
-- explain. `returned_minor` is what was paid at the table less the stakes added after the first, and
-- the sum of the parts. `wrong_hands` counts hands that were not paid as the rules say: their errors
-- may cancel in `error_minor`, of which hands were paid `underpaid_minor` too little in all. A hand sold
-- at another value than the rules' table has is one of them. Events that are counted stand in the row of
-- the main bet: at how many moves one might come (`chances_…`), how often it came, and the sums of its
-- exact chances p and of p(1 − p), in whole billionths.
CREATE OR REPLACE TABLE luck (
    first_leaf BIGINT NOT NULL,
    bet VARCHAR NOT NULL,
    returned_minor BIGINT NOT NULL,
    start_minor DOUBLE NOT NULL,
    luck_initial_deal DOUBLE NOT NULL,
    luck_check DOUBLE NOT NULL,
    luck_hit DOUBLE NOT NULL,
    luck_double DOUBLE NOT NULL,
    luck_split DOUBLE NOT NULL,
    luck_zap DOUBLE NOT NULL,
    luck_hole_card DOUBLE NOT NULL,
    luck_dealer_draw DOUBLE NOT NULL,
    skill_hit DOUBLE NOT NULL,
    skill_stand DOUBLE NOT NULL,
    skill_double DOUBLE NOT NULL,
    skill_split DOUBLE NOT NULL,
    skill_zap DOUBLE NOT NULL,
    skill_cash_out DOUBLE NOT NULL,
    skill_insurance DOUBLE NOT NULL,
    skill_even_money DOUBLE NOT NULL,
    skill_between_cards DOUBLE NOT NULL,
    skill_rounding DOUBLE NOT NULL,
    error_minor DOUBLE NOT NULL,
    underpaid_minor DOUBLE NOT NULL,
    wrong_hands BIGINT NOT NULL,
    chances_player_natural BIGINT NOT NULL,
    came_player_natural BIGINT NOT NULL,
    expected_player_natural BIGINT NOT NULL,
    variance_player_natural BIGINT NOT NULL,
    chances_dealer_natural BIGINT NOT NULL,
    came_dealer_natural BIGINT NOT NULL,
    expected_dealer_natural BIGINT NOT NULL,
    variance_dealer_natural BIGINT NOT NULL,
    chances_double_made BIGINT NOT NULL,
    came_double_made BIGINT NOT NULL,
    expected_double_made BIGINT NOT NULL,
    variance_double_made BIGINT NOT NULL,
    chances_dealer_bust BIGINT NOT NULL,
    came_dealer_bust BIGINT NOT NULL,
    expected_dealer_bust BIGINT NOT NULL,
    variance_dealer_bust BIGINT NOT NULL,
    chances_dealer_late_bust BIGINT NOT NULL,
    came_dealer_late_bust BIGINT NOT NULL,
    expected_dealer_late_bust BIGINT NOT NULL,
    variance_dealer_late_bust BIGINT NOT NULL
);

-- What the rules would have paid on a bet of a hand in a voided or an open round; none where cards or decisions
-- that it depends on are not there. Cards that had not been dealt are those of the shoe, where its seed
-- was revealed. `is_over` is whether the whole round wanted no more decisions.
CREATE OR REPLACE TABLE would_have_paid (
    first_leaf BIGINT NOT NULL,
    hand VARCHAR NOT NULL,
    bet VARCHAR NOT NULL,
    would_have_paid_minor BIGINT NOT NULL,
    is_over BOOLEAN NOT NULL
);

-- One row per act that an offer kept from a hand the rules allow it, and per cash-out value that the
-- rules' table does not have. `reason` is the one given, null for none, and `is_believed` whether it may
-- keep the act back: the player hid cash out, or `cost_minor` is more than `balance_minor`, the last
-- balance that the wallet stated in the round. `shown_minor` and `table_minor` are null but for values.
-- Acts left out without a word, and values, are known of rounds that closed or are void.
CREATE OR REPLACE TABLE offers_apart (
    first_leaf BIGINT NOT NULL,
    leaf_index BIGINT NOT NULL,
    hand VARCHAR NOT NULL,
    act VARCHAR NOT NULL,
    reason VARCHAR,
    is_believed BOOLEAN NOT NULL,
    balance_minor BIGINT,
    cost_minor BIGINT,
    shown_minor BIGINT,
    table_minor BIGINT
);

-- The game that a rule set is for and the cards of its shoe, under the digest its content has, and
-- the first leaf that says so.
CREATE OR REPLACE TABLE rule_sets (
    rules_digest VARCHAR PRIMARY KEY,
    game VARCHAR NOT NULL,
    shoe_cards INTEGER NOT NULL,
    leaf_index BIGINT NOT NULL
);

-- One row per round and bet: its hands and seats summed, the round's dimensions beside them, and what
-- voids and disputes decided counted, bet by bet. `paid_minor` is what was paid in the end,
-- `recorded_paid_minor` what the table paid. A bet is void where a void, or a refund by a decision,
-- brought its whole stake back, less what it had been paid before; one that was settled before, and keeps
-- that, was played, whatever became of its round. What went back otherwise is a payment like any other:
-- `part_back_minor`, null but for a bet that stays played. Hands of a bet that were played and hands that are void stand
-- in two rows. `would_have_won` is null but for a bet that a void took back, or that was left open, though
-- its round wanted no more decisions. `held_minor` is the stake of what is not settled yet. `played_out` is whether the round
-- closed and no hand of the bet is void: only then are there parts of luck, skill and error, null where
-- the rules do not explain it. Of a bet settled in a round that was voided later the error alone is known.
CREATE OR REPLACE VIEW round_bets AS
WITH corrected AS (
    SELECT
        round,
        hand,
        bet,
        MAX(leaf_index) AS corrected_at,
        arg_max(paid_minor, leaf_index) AS corrected_minor
    FROM disputes
    WHERE event = 'BetResettled'
    GROUP BY round, hand, bet
),

returned AS (
    SELECT round, hand, bet, SUM(refunded_minor)::BIGINT AS returned_minor
    FROM disputes LEFT JOIN corrected USING (round, hand, bet)
    WHERE event = 'Refunded' AND leaf_index > COALESCE(corrected_at, -1)
    GROUP BY round, hand, bet
),

decided AS (
    SELECT first_leaf, hand, bet, corrected_at, corrected_minor, returned_minor
    FROM corrected FULL JOIN returned USING (round, hand, bet) JOIN rounds USING (round)
),

-- Where the wallet took an amount other than the stake, that amount goes back.
debited_otherwise AS (
    SELECT DISTINCT first_leaf, true AS is_debited_otherwise
    FROM wallet_differences
    WHERE direction = 'debit' AND first_leaf IS NOT NULL
),

followed AS (
    SELECT
        bets.*,
        would_have_paid_minor,
        is_over,
        COALESCE(corrected_minor, paid_minor) AS settled_minor,
        -- A resettlement after a void takes the refund into what it says the bet comes to.
        IF(
            refunded_minor IS NULL OR COALESCE(corrected_at > leaf_index, false),
            returned_minor,
            refunded_minor + COALESCE(returned_minor, 0)
        ) AS back_minor,
        COALESCE(settled_minor, 0) + COALESCE(back_minor, 0) AS final_minor,
        COALESCE(
            back_minor IS NOT NULL
            AND (final_minor >= stake_minor OR (settled_minor IS NULL AND is_debited_otherwise))
            AND (
                COALESCE(settled_minor, 0) < stake_minor
                OR (settled_minor = stake_minor AND back_minor = 0)
                OR stake_minor = 0
            ),
            false
        ) AS is_void,
        IF(NOT is_void AND (back_minor > 0 OR settled_minor IS NULL), back_minor, NULL)
            AS part_back_minor
    FROM bets
    LEFT JOIN decided USING (first_leaf, hand, bet)
    LEFT JOIN would_have_paid USING (first_leaf, hand, bet)
    LEFT JOIN debited_otherwise USING (first_leaf)
),

seats AS (
    SELECT
        first_leaf,
        bet,
        bool_or(is_void) AS has_void,
        NOT bool_and(is_void) AS has_played,
        COALESCE(SUM(initial_stake_minor) FILTER (is_void), 0) AS void_initial_minor
    FROM followed
    WHERE first_leaf IN (SELECT first_leaf FROM followed WHERE is_void)
    GROUP BY first_leaf, seat, bet
),

-- The initial stake of a split belongs to the hand that was played, where the other is void.
mixed AS (
    SELECT
        first_leaf,
        bet,
        COALESCE(SUM(void_initial_minor) FILTER (has_played), 0)::BIGINT AS moved_minor
    FROM seats
    GROUP BY first_leaf, bet
    HAVING bool_or(has_void) AND bool_or(has_played)
),

summed AS (
    SELECT
        first_leaf,
        bet,
        is_void,
        COUNT(*) AS hands,
        SUM(initial_stake_minor)::BIGINT AS initial_minor,
        SUM(stake_minor)::BIGINT AS staked_minor,
        SUM(final_minor)::BIGINT AS paid_minor,
        COALESCE(SUM(paid_minor), 0)::BIGINT AS recorded_paid_minor,
        COALESCE(SUM(stake_minor) FILTER (paid_minor IS NULL), 0)::BIGINT AS unsettled_minor,
        IF(COUNT(cash_staked_minor) = COUNT(*), SUM(cash_staked_minor), NULL)::BIGINT
            AS cash_staked_minor,
        IF(COUNT(incentive_staked_minor) = COUNT(*), SUM(incentive_staked_minor), NULL)::BIGINT
            AS incentive_staked_minor,
        IF(COUNT(cash_paid_minor) = COUNT(*), SUM(cash_paid_minor), NULL)::BIGINT
            AS cash_paid_minor,
        IF(COUNT(incentive_paid_minor) = COUNT(*), SUM(incentive_paid_minor), NULL)::BIGINT
            AS incentive_paid_minor,
        -- A resettlement that changes nothing excuses nothing.
        NOT is_void AND COUNT(*) FILTER (final_minor <> COALESCE(paid_minor, 0)) > 0 AS resettled,
        SUM(part_back_minor)::BIGINT AS part_back_minor,
        IF(COUNT(would_have_paid_minor) = COUNT(*), SUM(would_have_paid_minor), NULL)::BIGINT
            AS would_have_paid_minor,
        bool_and(COALESCE(is_over, false)) AS is_over,
        SUM(paid_minor - would_have_paid_minor)::DOUBLE AS settled_error_minor,
        SUM(GREATEST(would_have_paid_minor - paid_minor, 0))::DOUBLE AS settled_underpaid_minor,
        COUNT(*) FILTER (paid_minor <> would_have_paid_minor) AS settled_wrong_hands
    FROM followed
    GROUP BY first_leaf, bet, is_void
)

SELECT
    first_leaf,
    last_leaf,
    round,
    game,
    rules_digest,
    currency,
    mode,
    operator,
    table_name,
    channel,
    player,
    CASE WHEN is_void THEN 'void' WHEN state = 'open' THEN 'open' ELSE 'closed' END AS state,
    opened_at,
    dealt_at,
    closed_at,
    bet,
    hands,
    initial_minor + COALESCE(IF(is_void, -moved_minor, moved_minor), 0) AS initial_minor,
    summed.staked_minor,
    summed.paid_minor,
    recorded_paid_minor,
    IF(state = 'open' AND NOT is_void, unsettled_minor, 0) AS held_minor,
    cash_staked_minor,
    incentive_staked_minor,
    IF(resettled, NULL, cash_paid_minor) AS cash_paid_minor,
    IF(resettled, NULL, incentive_paid_minor) AS incentive_paid_minor,
    resettled,
    part_back_minor,
    -- Of a bet refunded after its round's end, what was paid at the table but for any error of it.
    CASE
        WHEN state IN ('void', 'open') THEN would_have_paid_minor
        WHEN is_void THEN recorded_paid_minor - round(luck.error_minor)::BIGINT
    END AS would_have_paid_minor,
    IF((state = 'open' OR (state = 'void' AND is_void)) AND is_over, would_have_paid_minor > summed.staked_minor, NULL)
        AS would_have_won,
    state = 'closed' AND NOT is_void AND mixed.first_leaf IS NULL AS played_out,
    luck.* EXCLUDE (
        first_leaf, bet, returned_minor, error_minor, underpaid_minor, wrong_hands
    ),
    IF(state = 'void' AND NOT is_void, settled_error_minor, luck.error_minor) AS error_minor,
    IF(state = 'void' AND NOT is_void, settled_underpaid_minor, luck.underpaid_minor)
        AS underpaid_minor,
    IF(state = 'void' AND NOT is_void, settled_wrong_hands, luck.wrong_hands) AS wrong_hands
FROM summed
JOIN rounds USING (first_leaf)
LEFT JOIN mixed USING (first_leaf, bet)
LEFT JOIN luck
    ON luck.first_leaf = summed.first_leaf AND luck.bet = summed.bet AND mixed.first_leaf IS NULL;
