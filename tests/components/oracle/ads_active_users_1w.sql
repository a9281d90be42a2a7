SELECT COUNT(DISTINCT user_id) AS wau FROM oracle.active WHERE day BETWEEN %(day)s AND %(day)s + INTERVAL 6 DAY
