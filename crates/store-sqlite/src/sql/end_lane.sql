-- A step's deliveries end. What was tried keeps its progress and the status of its last attempt.
INSERT OR REPLACE INTO delivery (
    msg, endpoint, state, reason, settled, last_status,
    outage, refusals, first_refusal, attempts, interrupted, blocked
)
SELECT msg, endpoint, ?2, ?3, ?4, NULL, 0, 0, NULL, 0, 0, 0
FROM fresh
WHERE endpoint = ?1 AND later IN (0, 1) AND msg IN (SELECT msg FROM temp.step)
UNION ALL
SELECT
    msg, endpoint, ?2, ?3, ?4,
    (
        SELECT attempt.status
        FROM attempt_of JOIN attempt ON attempt.id = attempt_of.id
        WHERE attempt_of.msg = waiting.msg AND attempt_of.endpoint = waiting.endpoint
        ORDER BY attempt_of.id DESC
        LIMIT 1
    ),
    outage, refusals, first_refusal, attempts, interrupted, blocked
FROM waiting
WHERE endpoint = ?1 AND later IN (0, 1) AND msg IN (SELECT msg FROM temp.step)
