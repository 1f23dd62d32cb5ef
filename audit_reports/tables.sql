-- The projection's tables. Every row is derived from verified leaves and can be made anew.
-- Amounts are integers in minor units of the round's currency, times are UTC, leaf indices 0-based.

-- One row per round, as recorded. `game` is the one its rules are for, null where the ledger held no
-- readable rules of that digest when it was opened. `staked_minor` and `paid_minor` are the sums over
-- its bets, `closed_staked_minor` and `closed_paid_minor` what its last event says they are, null of a
-- round that did not close; `refunded_minor` is what a voided round gave back. `dealt_at` is null until
-- the deal, `closed_at` until the end.
CREATE OR REPLACE TABLE rounds (
    first_leaf BIGINT NOT NULL,
    last_leaf BIGINT NOT NULL,
    round VARCHAR NOT NULL,
    game VARCHAR,
    rules_digest VARCHAR NOT NULL,
    operator VARCHAR,
    table_name VARCHAR,
    channel VARCHAR,
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
    refunded_minor BIGINT
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
    line VARCHAR
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

-- One row per event of a dispute: DisputeOpened, DisputeDecided (one for each key that signed it),
-- BetResettled, Refunded. `paid_minor` is what a bet comes to after a resettlement, stake included;
-- `refunded_minor` what went back of its stake by a void after the round's end.
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
    refunded_minor BIGINT
);

-- One row per round and bet that could be taken apart (replay/luck): closed rounds that the rules
-- explain. `returned_minor` is what was paid at the table less the stakes added after the first, and
-- the sum of the parts. `wrong_hands` counts hands that were not paid as the rules say: their errors
-- may cancel in `error_minor`.
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
    wrong_hands BIGINT NOT NULL
);

-- What the rules would have paid on a bet of a voided round; none where cards or decisions that it
-- depends on are not there.
CREATE OR REPLACE TABLE would_have_paid (
    first_leaf BIGINT NOT NULL,
    bet VARCHAR NOT NULL,
    would_have_paid_minor BIGINT NOT NULL
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
-- disputes decided counted: `paid_minor` is what was paid in the end, `recorded_paid_minor` what the
-- table paid. A round of which a decision refunded a stake is void. `held_minor` is the stake of what
-- is not settled yet. The parts of luck, skill and error are null where there are none.
CREATE OR REPLACE VIEW round_bets AS
WITH resettled AS (
    SELECT first_leaf, hand, bet, arg_max(disputes.paid_minor, leaf_index) AS corrected_minor
    FROM disputes JOIN rounds USING (round)
    WHERE event = 'BetResettled'
    GROUP BY first_leaf, hand, bet
),

refunded AS (
    SELECT DISTINCT first_leaf FROM disputes JOIN rounds USING (round) WHERE event = 'Refunded'
),

summed AS (
    SELECT
        first_leaf,
        bet,
        COUNT(*) AS hands,
        SUM(initial_stake_minor)::BIGINT AS initial_minor,
        SUM(stake_minor)::BIGINT AS staked_minor,
        COALESCE(SUM(COALESCE(corrected_minor, paid_minor)), 0)::BIGINT AS paid_minor,
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
        COUNT(*) FILTER (corrected_minor <> paid_minor) > 0 AS resettled
    FROM bets LEFT JOIN resettled USING (first_leaf, hand, bet)
    GROUP BY first_leaf, bet
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
    IF(refunded.first_leaf IS NULL, state, 'void') AS state,
    opened_at,
    dealt_at,
    closed_at,
    bet,
    hands,
    initial_minor,
    summed.staked_minor,
    summed.paid_minor,
    recorded_paid_minor,
    IF(state = 'open', unsettled_minor, 0) AS held_minor,
    cash_staked_minor,
    incentive_staked_minor,
    IF(resettled, NULL, cash_paid_minor) AS cash_paid_minor,
    IF(resettled, NULL, incentive_paid_minor) AS incentive_paid_minor,
    resettled,
    -- Of a round voided after its end, what was paid at the table but for any error of it.
    IF(
        refunded.first_leaf IS NULL,
        would_have_paid_minor,
        recorded_paid_minor - round(error_minor)::BIGINT
    ) AS would_have_paid_minor,
    luck.* EXCLUDE (first_leaf, bet, returned_minor)
FROM summed
JOIN rounds USING (first_leaf)
LEFT JOIN refunded USING (first_leaf)
LEFT JOIN would_have_paid USING (first_leaf, bet)
LEFT JOIN luck USING (first_leaf, bet);
