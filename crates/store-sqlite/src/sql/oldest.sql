-- The oldest that waits in one half of a lane: critical messages (`later` 0) or the others (1).
SELECT min(msg)
FROM (
    SELECT (SELECT min(msg) FROM fresh WHERE endpoint = ?1 AND later = ?2) AS msg
    UNION ALL
    SELECT (SELECT min(msg) FROM waiting WHERE endpoint = ?1 AND later = ?2)
)
