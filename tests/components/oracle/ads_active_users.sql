SELECT (SELECT COUNT(*) FROM oracle.active WHERE day = %(day)s) AS dau,
       (SELECT COUNT(DISTINCT user_id) FROM oracle.active
        WHERE day BETWEEN %(day)s - INTERVAL 6 DAY AND %(day)s) AS wau
