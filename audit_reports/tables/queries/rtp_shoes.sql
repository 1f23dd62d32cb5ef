-- How many rounds were dealt from a shoe that is not the one committed to, or whose seed was known?
-- One row for each game, rules digest and currency: of `rounds` of whose shoe anything can be told,
-- `broken` revealed another seed, `late` committed after the stakes, `uncommitted` never or twice, and
-- `unrevealed` closed without their seed. `repeated` revealed a seed that an earlier round of the whole
-- ledger had, for fun or not. `leaf_index` begins the first round of any of these. A round that was
-- voided, or all of whose stakes went back by a decision, is judged as a void and is none of these.
WITH known AS (
    SELECT seed_print, MIN(first_leaf) AS known_since
    FROM rounds
    WHERE seed_print IS NOT NULL
    GROUP BY seed_print
    HAVING COUNT(*) > 1
),

told AS (
    SELECT
        game,
        rules_digest,
        currency,
        shoe,
        first_leaf,
        state,
        COALESCE(first_leaf > known_since, false) AS is_repeated,
        shoe <> 'as committed' OR is_repeated AS is_wrong
    FROM rounds LEFT JOIN known USING (seed_print)
    WHERE
        mode = 'real'
        AND shoe IS NOT NULL
        AND is_within(COALESCE(closed_at, opened_at), $begin::TIMESTAMP, $end::TIMESTAMP)
),

given_back AS (
    SELECT first_leaf, true AS is_given_back
    FROM round_bets
    WHERE first_leaf IN (SELECT first_leaf FROM told WHERE is_wrong)
    GROUP BY first_leaf
    HAVING bool_and(state = 'void')
),

held AS (
    SELECT told.*, told.state = 'void' OR COALESCE(is_given_back, false) AS is_given_back
    FROM told LEFT JOIN given_back USING (first_leaf)
)

SELECT
    ANY_VALUE(game) AS game,
    rules_digest,
    currency,
    COUNT(*) AS rounds,
    COUNT_IF(shoe = 'broken' AND NOT is_given_back) AS broken,
    COUNT_IF(shoe = 'late' AND NOT is_given_back) AS late,
    COUNT_IF(shoe = 'uncommitted' AND NOT is_given_back) AS uncommitted,
    COUNT_IF(shoe = 'unrevealed' AND NOT is_given_back) AS unrevealed,
    COUNT_IF(is_repeated AND NOT is_given_back) AS repeated,
    MIN(first_leaf) FILTER (is_wrong AND NOT is_given_back) AS leaf_index
FROM held
GROUP BY rules_digest, currency
ORDER BY game NULLS LAST, rules_digest, currency
