SELECT COUNT(DISTINCT user_id) AS mau FROM oracle.active WHERE day BETWEEN %(day)s AND LAST_DAY(%(day)s)
