-- The deliveries of an endpoint that a step takes, oldest first: messages before ?2, and none that was
-- to be delivered after ?4 (what was never tried is never for later).
INSERT INTO temp.step (msg)
SELECT msg FROM fresh WHERE endpoint = ?1 AND later = 0 AND msg < ?2
UNION ALL
SELECT msg FROM fresh WHERE endpoint = ?1 AND later = 1 AND msg < ?2
UNION ALL
SELECT msg FROM waiting
WHERE endpoint = ?1 AND later = 0 AND msg < ?2
    AND NOT EXISTS (SELECT 1 FROM message WHERE message.id = waiting.msg AND message.deliver_at > ?4)
UNION ALL
SELECT msg FROM waiting
WHERE endpoint = ?1 AND later = 1 AND msg < ?2
    AND NOT EXISTS (SELECT 1 FROM message WHERE message.id = waiting.msg AND message.deliver_at > ?4)
ORDER BY msg
LIMIT ?3
