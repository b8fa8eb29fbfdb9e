-- The next endpoint that has something waiting, and when the first of it is due.
SELECT lane.endpoint, (
    SELECT min(due)
    FROM (
        SELECT (SELECT min(due) FROM waiting WHERE endpoint = lane.endpoint AND later = 0) AS due
        UNION ALL
        SELECT (SELECT min(due) FROM waiting WHERE endpoint = lane.endpoint AND later = 1)
    )
)
FROM (SELECT endpoint FROM waiting WHERE endpoint > ?1 ORDER BY endpoint LIMIT 1) AS lane
