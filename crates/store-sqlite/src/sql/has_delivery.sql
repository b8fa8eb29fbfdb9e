-- A row if an endpoint (?1) has a delivery of a message (?2), in whatever state.
SELECT 1 FROM fresh WHERE endpoint = ?1 AND later IN (0, 1) AND msg = ?2
UNION ALL
SELECT 1 FROM waiting WHERE endpoint = ?1 AND later IN (0, 1) AND msg = ?2
UNION ALL
SELECT 1 FROM delivery WHERE msg = ?2 AND endpoint = ?1
