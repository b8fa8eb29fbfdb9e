-- What is due of one half of a lane: critical messages (`later` 0) or the others (1).
SELECT msg, later, kind, due, rule, outage, refusals, first_refusal, attempts, interrupted, blocked
FROM waiting INDEXED BY waiting_due
WHERE endpoint = ?1 AND later = ?2 AND due <= ?3
ORDER BY due, msg
LIMIT ?4
