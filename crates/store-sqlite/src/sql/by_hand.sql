SELECT
    hand.msg,
    message.critical,
    message.type,
    (SELECT count(*) FROM attempt_of WHERE attempt_of.msg = hand.msg AND attempt_of.endpoint = hand.endpoint)
FROM hand JOIN message ON message.id = hand.msg
WHERE hand.endpoint = ?1
ORDER BY hand.msg
LIMIT ?2
