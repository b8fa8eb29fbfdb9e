-- No attempt leads the index to them, so they are put in at once: one endpoint, in order.
INSERT OR IGNORE INTO delivery_by_endpoint (endpoint, msg)
SELECT endpoint, msg FROM fresh WHERE endpoint = ?1 AND msg <= ?2
UNION ALL
SELECT endpoint, msg FROM waiting WHERE endpoint = ?1 AND msg <= ?2
