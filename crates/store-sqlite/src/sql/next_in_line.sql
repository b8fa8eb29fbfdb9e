-- When the first delivery that is for later (rule 6) comes into line.
SELECT min(due)
FROM (
    SELECT * FROM (
        SELECT due FROM waiting INDEXED BY waiting_due
        WHERE endpoint = ?1 AND later = 0 AND due > ?2 AND rule = 6
        ORDER BY due LIMIT 1
    )
    UNION ALL
    SELECT * FROM (
        SELECT due FROM waiting INDEXED BY waiting_due
        WHERE endpoint = ?1 AND later = 1 AND due > ?2 AND rule = 6
        ORDER BY due LIMIT 1
    )
)
