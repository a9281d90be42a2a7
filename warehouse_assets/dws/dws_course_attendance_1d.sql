SELECT
  course_id,
  count(*)      AS lessons,
  sum(seats)    AS seats,
  sum(attended) AS attended,
  sum(minutes)  AS minutes
FROM dws_lesson_attendance_1d
WHERE dt = :biz_date
GROUP BY course_id
