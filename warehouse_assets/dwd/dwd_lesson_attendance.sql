SELECT
  a.attendance_id,
  a.lesson_id,
  a.user_id,
  l.course_id,
  l.starts_at,
  l.duration_min,
  a.attended = 1          AS attended,
  a.joined_at,
  coalesce(a.minutes, 0)  AS minutes,
  a.rating
FROM ods_lesson_attendance AS a
JOIN ods_lessons AS l
  ON l.lesson_id = a.lesson_id AND l.dt = :biz_date
WHERE a.dt = :biz_date
  AND a.lesson_date = :biz_date
  AND l.status <> 'cancelled'
