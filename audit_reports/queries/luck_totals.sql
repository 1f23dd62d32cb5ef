-- What did chance, players' decisions and wrong payments add to each bet? Of every part: in how many
-- rounds it was not nil, and the sums of its first, second and fourth powers over rounds.
-- `groups` is what the sums are made by. The parts come in the order of the columns of `luck`, then
-- all luck, all skill and error, of every sum.
WITH parts AS (
    SELECT
        groups,
        bet,
        stake_minor,
        start_minor,
        returned_minor,
        COLUMNS('^(luck|skill)_'),
        list_sum([*COLUMNS('^luck_')]) AS luck_all,
        list_sum([*COLUMNS('^skill_')]) AS skill_all,
        error_minor::DOUBLE AS error_all
    FROM luck
    WHERE mode = ?
)
SELECT
    groups,
    bet,
    COUNT(*),
    SUM(stake_minor),
    SUM(start_minor),
    SUM(returned_minor),
    COUNT_IF(ABS(COLUMNS('^(luck|skill|error)_')) > 1e-9),
    SUM(COLUMNS('^(luck|skill|error)_')),
    SUM(COLUMNS('^(luck|skill|error)_') ** 2),
    SUM(COLUMNS('^(luck|skill|error)_') ** 4)
FROM parts
GROUP BY groups, bet
