-- One row: how far, and of which ledger, the tables of this file were made. `peaks` are the tree's, the
-- hashes lower hex; the leaves before `covered` were held to a checkpoint of so many leaves.
CREATE OR REPLACE TABLE projected (
    format INTEGER NOT NULL,
    origin VARCHAR NOT NULL,
    size BIGINT NOT NULL,
    last_leaf_hash VARCHAR,
    peaks VARCHAR[] NOT NULL,
    covered BIGINT NOT NULL
);
