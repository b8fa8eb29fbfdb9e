-- Unless there is a delivery of it there, which was counted when it was made.
UPDATE message
SET routes = routes + 1
WHERE id = ?2 AND NOT EXISTS (SELECT 1 FROM delivery WHERE msg = ?2 AND endpoint = ?1)
