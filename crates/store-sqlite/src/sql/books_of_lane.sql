-- What waits of an application's messages (?2) in a lane over a range of ids, exclusive on both sides,
-- and how each such delivery ended before, if it did: it waits, whatever came of it then.
SELECT delivery.state
FROM (
    SELECT msg FROM fresh WHERE endpoint = ?1 AND later IN (0, 1) AND msg > ?3 AND msg < ?4
    UNION ALL
    SELECT msg FROM waiting WHERE endpoint = ?1 AND later IN (0, 1) AND msg > ?3 AND msg < ?4
) AS lane
CROSS JOIN message ON message.id = lane.msg AND message.app = ?2
LEFT JOIN delivery ON delivery.msg = lane.msg AND delivery.endpoint = ?1
