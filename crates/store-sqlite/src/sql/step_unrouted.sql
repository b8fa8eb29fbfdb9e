-- The messages of an application that a step takes, oldest first: those before ?2, and none that was
-- to be delivered after ?4.
INSERT INTO temp.step (msg)
SELECT msg FROM unrouted
WHERE app = ?1 AND msg < ?2
    AND NOT EXISTS (SELECT 1 FROM message WHERE message.id = unrouted.msg AND message.deliver_at > ?4)
ORDER BY msg
LIMIT ?3
