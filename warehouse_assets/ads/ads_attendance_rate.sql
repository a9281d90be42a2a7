SELECT
  w.course_id,
  coalesce(d.seats, 0)    AS seats,
  coalesce(d.attended, 0) AS attended,
  CAST(round(CAST(d.attended AS DECIMAL(20, 0)) / d.seats, 4) AS DECIMAL(10, 4)) AS rate,
  w.seats                 AS seats_7d,
  w.attended              AS attended_7d,
  CAST(round(CAST(w.attended AS DECIMAL(20, 0)) / w.seats, 4) AS DECIMAL(10, 4)) AS rate_7d
FROM dws_course_attendance_7d AS w
LEFT JOIN dws_course_attendance_1d AS d
  ON d.course_id = w.course_id AND d.dt = :biz_date
WHERE w.dt = :biz_date
