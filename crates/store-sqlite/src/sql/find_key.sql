-- A caller's key lives 12 hours, so it is in the bucket of this hour (?1) or of the 12 before.
SELECT body, msg, answer
FROM idempotency
WHERE hour IN (?1, ?1 - 1, ?1 - 2, ?1 - 3, ?1 - 4, ?1 - 5, ?1 - 6, ?1 - 7, ?1 - 8, ?1 - 9, ?1 - 10, ?1 - 11, ?1 - 12)
    AND key = ?2
    AND expires > ?3
LIMIT 1
