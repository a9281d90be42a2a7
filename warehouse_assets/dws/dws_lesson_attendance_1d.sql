SELECT
  lesson_id,
  course_id,
  count(*)                                   AS seats,
  count_if(attended)                         AS attended,
  sum(minutes)                               AS minutes,
  CAST(avg(rating) AS DECIMAL(4, 2))         AS rating
FROM dwd_lesson_attendance
WHERE dt = :biz_date
GROUP BY lesson_id, course_id
