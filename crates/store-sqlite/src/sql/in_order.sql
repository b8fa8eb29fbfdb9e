-- The head of a lane by age. 6 is the rule `DeliverAt`: what is for later is not in line yet. `due`
-- is NULL for what was never tried.
SELECT msg, later, kind, NULL AS due, 0 AS rule, 0, 0, NULL, 0, 0, 0
FROM fresh
WHERE endpoint = ?1 AND later = 0
UNION ALL
SELECT msg, later, kind, NULL, 0, 0, 0, NULL, 0, 0, 0
FROM fresh
WHERE endpoint = ?1 AND later = 1
UNION ALL
SELECT msg, later, kind, due, rule, outage, refusals, first_refusal, attempts, interrupted, blocked
FROM waiting
WHERE endpoint = ?1 AND later = 0 AND (rule <> 6 OR due <= ?2)
UNION ALL
SELECT msg, later, kind, due, rule, outage, refusals, first_refusal, attempts, interrupted, blocked
FROM waiting
WHERE endpoint = ?1 AND later = 1 AND (rule <> 6 OR due <= ?2)
ORDER BY msg
LIMIT ?3
