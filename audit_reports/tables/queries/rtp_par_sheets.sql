-- Which returns were approved, by the PAR sheets that the operator handed over?
SELECT game, rules_digest, bet, id, strftime(date, '%Y-%m-%d') AS date, sha256, percent
FROM par_sheets
ORDER BY game, rules_digest, bet
