-- Which bets belong to rounds that had not ended where the projection stands?
SELECT bets.* FROM bets JOIN rounds USING (first_leaf) WHERE state = 'open'
