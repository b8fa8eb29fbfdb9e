-- The status of a delivery's last attempt.
SELECT attempt.status
FROM attempt_of JOIN attempt ON attempt.id = attempt_of.id
WHERE attempt_of.msg = ?1 AND attempt_of.endpoint = ?2
ORDER BY attempt_of.id DESC
LIMIT 1
