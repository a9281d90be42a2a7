SELECT d.course_id, d.orders, d.gmv, p.gmv AS gmv_previous_day,
       ROUND((d.gmv - p.gmv) / NULLIF(p.gmv, 0), 4) AS day_over_day
FROM oracle.gmv_daily d
LEFT JOIN oracle.gmv_daily p ON p.course_id = d.course_id AND p.day = %(day)s - INTERVAL 1 DAY
WHERE d.day = %(day)s
ORDER BY d.course_id
