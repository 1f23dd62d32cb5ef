-- The projection's tables. Every row is derived from verified leaves and can be made anew.
-- Amounts are integers in minor units of the round's currency, times are UTC, leaf indices 0-based.

-- One row per round. `staked_minor` and `paid_minor` are the sums over its bets; `refunded_minor`
-- is what a voided round gave back. `dealt_at` is null until the deal, `closed_at` until the end.
CREATE OR REPLACE TABLE rounds (
    first_leaf BIGINT NOT NULL,
    last_leaf BIGINT NOT NULL,
    round VARCHAR NOT NULL,
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
    refunded_minor BIGINT
);

-- One row per bet. `first_leaf` is that of its round; `leaf_index` is the last leaf that said
-- something of this bet. `paid_minor`, the stake coming back included, and `line` are null until
-- the bet is settled. A seat's main stake is the initial stake of its first hand alone.
CREATE OR REPLACE TABLE bets (
    first_leaf BIGINT NOT NULL,
    leaf_index BIGINT NOT NULL,
    seat VARCHAR NOT NULL,
    hand VARCHAR NOT NULL,
    bet VARCHAR NOT NULL,
    initial_stake_minor BIGINT NOT NULL,
    stake_minor BIGINT NOT NULL,
    paid_minor BIGINT,
    line VARCHAR
);

-- One row per bet that a decided dispute moved money for, in the order of the decisions.
-- `paid_minor` is what the bet comes to after a resettlement, stake included; `refunded_minor` what
-- went back of its stake by a void after the round's end. One of the two is null.
CREATE OR REPLACE TABLE decisions (
    leaf_index BIGINT NOT NULL,
    round VARCHAR NOT NULL,
    hand VARCHAR NOT NULL,
    bet VARCHAR NOT NULL,
    paid_minor BIGINT,
    refunded_minor BIGINT
);

-- The game that a rule set is for, under the digest its content has.
CREATE OR REPLACE TABLE rule_sets (
    rules_digest VARCHAR PRIMARY KEY,
    game VARCHAR NOT NULL
);

-- One row: how far, and of which ledger, the tables above were made; the hash is lower hex.
CREATE OR REPLACE TABLE projected (
    format INTEGER NOT NULL,
    origin VARCHAR NOT NULL,
    size BIGINT NOT NULL,
    last_leaf_hash VARCHAR
);
