-- What the shuffle tests have counted, so that the next ones go on from there. `counts` has one row:
-- sums and counts, and rounds that wait for others to end. `noted` has a row for each time that it
-- was kept: of its rounds, prints of what must not come again, and what is wrong with them. Both are
-- MessagePack.
CREATE OR REPLACE TABLE counts (counts BLOB NOT NULL);

CREATE OR REPLACE TABLE noted (noted BLOB NOT NULL);
