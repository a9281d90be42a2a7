SELECT
  course_id,
  sum(lessons)  AS lessons,
  sum(seats)    AS seats,
  sum(attended) AS attended
FROM dws_course_attendance_1d
WHERE dt BETWEEN date_sub(:biz_date, 6) AND :biz_date
GROUP BY course_id
