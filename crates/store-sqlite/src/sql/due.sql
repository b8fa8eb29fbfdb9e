SELECT msg, critical, due, rule, outage, refusals, first_refusal, attempts, interrupted, blocked
FROM waiting INDEXED BY waiting_due
WHERE endpoint = ?1 AND due <= ?2
ORDER BY due, msg
LIMIT ?3
