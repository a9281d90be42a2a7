SELECT w.course_id, COALESCE(d.seats, 0) AS seats, COALESCE(d.attended, 0) AS attended,
       ROUND(d.attended / d.seats, 4) AS rate, w.seats_7d, w.attended_7d,
       ROUND(w.attended_7d / w.seats_7d, 4) AS rate_7d
FROM (SELECT course_id, CAST(SUM(seats) AS SIGNED) AS seats_7d, CAST(SUM(attended) AS SIGNED) AS attended_7d
      FROM oracle.attendance_daily WHERE day BETWEEN %(day)s - INTERVAL 6 DAY AND %(day)s GROUP BY course_id) w
LEFT JOIN oracle.attendance_daily d ON d.course_id = w.course_id AND d.day = %(day)s
ORDER BY w.course_id
