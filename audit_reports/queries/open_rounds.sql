-- Which rounds had not ended where the projection stands?
SELECT * FROM rounds WHERE state = 'open'
