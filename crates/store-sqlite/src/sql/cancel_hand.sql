DELETE FROM hand
WHERE endpoint = ?1
    AND msg IN (SELECT msg FROM hand WHERE endpoint = ?1 AND msg < ?2 ORDER BY msg LIMIT ?3)
