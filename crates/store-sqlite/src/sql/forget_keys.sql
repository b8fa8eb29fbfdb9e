DELETE FROM idempotency
WHERE (hour, key) IN (SELECT hour, key FROM idempotency WHERE hour <= ?1 ORDER BY hour LIMIT ?2)
