-- Of one application (?1) and of everyone: the newest, in order.
SELECT doc FROM (
    SELECT at, id, doc FROM (
        SELECT at, id, doc FROM transition
        WHERE app = ?1 AND at BETWEEN ?2 AND ?3
        ORDER BY at DESC, id DESC LIMIT ?4
    )
    UNION ALL
    SELECT at, id, doc FROM (
        SELECT at, id, doc FROM transition
        WHERE app = 0 AND at BETWEEN ?2 AND ?3
        ORDER BY at DESC, id DESC LIMIT ?4
    )
    ORDER BY at DESC, id DESC LIMIT ?4
)
ORDER BY at, id
