-- How often was an act kept from players, for which reason, and how far was cash out from the table's?
-- One row for each game, rules digest, currency and act that any offer kept back or valued otherwise.
-- `offered` counts decisions at which it was on offer. `believed` were barred for lack of money that a
-- balance confirms, or by the player's own choice; `unborne` for lack of money that none confirms, and
-- `withheld` without a reason that may bar the act. Of cash out, `low_offers` and `high_offers` showed
-- `low_minor` less and `high_minor` more than the rules' table in all.
WITH kept AS (
    SELECT game, rules_digest, currency, offers_apart.* EXCLUDE (first_leaf)
    FROM offers_apart JOIN rounds USING (first_leaf)
    WHERE
        mode = 'real'
        AND is_within(COALESCE(closed_at, opened_at), $begin::TIMESTAMP, $end::TIMESTAMP)
),

acts AS (
    SELECT
        ANY_VALUE(game) AS game,
        rules_digest,
        currency,
        act,
        COUNT_IF(is_believed) AS believed,
        COUNT_IF(NOT is_believed AND table_minor IS NULL AND reason IS NOT DISTINCT FROM 'funds')
            AS unborne,
        COUNT_IF(NOT is_believed AND table_minor IS NULL AND reason IS DISTINCT FROM 'funds')
            AS withheld,
        COUNT_IF(COALESCE(shown_minor < table_minor, false)) AS low_offers,
        COALESCE(SUM(GREATEST(table_minor - shown_minor, 0)), 0)::BIGINT AS low_minor,
        COUNT_IF(COALESCE(shown_minor > table_minor, false)) AS high_offers,
        COALESCE(SUM(GREATEST(shown_minor - table_minor, 0)), 0)::BIGINT AS high_minor,
        MIN(leaf_index) FILTER (NOT is_believed) AS leaf_index
    FROM kept
    GROUP BY rules_digest, currency, act
),

offered AS (
    SELECT acts.rules_digest, acts.currency, acts.act, COUNT(*) AS offered
    FROM acts
    JOIN rounds USING (rules_digest, currency)
    JOIN decisions USING (first_leaf)
    WHERE
        mode = 'real'
        AND is_within(COALESCE(closed_at, opened_at), $begin::TIMESTAMP, $end::TIMESTAMP)
        AND list_contains(legal, acts.act)
    GROUP BY ALL
)

SELECT acts.*, COALESCE(offered, 0) AS offered
FROM acts LEFT JOIN offered USING (rules_digest, currency, act)
ORDER BY game NULLS LAST, rules_digest, currency, act
