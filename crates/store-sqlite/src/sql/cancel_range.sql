-- How many deliveries of an endpoint a step takes, and the last message among them.
SELECT count(*), max(msg)
FROM (
    SELECT msg FROM fresh WHERE endpoint = ?1 AND msg <= ?2
    UNION ALL
    SELECT msg FROM waiting WHERE endpoint = ?1 AND msg <= ?2
    ORDER BY msg
    LIMIT ?3
)
