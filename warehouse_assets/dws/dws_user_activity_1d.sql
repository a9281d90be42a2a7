SELECT
  user_id,
  sum(paid_orders)      AS paid_orders,
  sum(attended_lessons) AS attended_lessons
FROM (
  SELECT user_id, 1 AS paid_orders, 0 AS attended_lessons
  FROM dwd_orders
  WHERE dt = :biz_date AND paid_today
  UNION ALL
  SELECT user_id, 0, 1
  FROM dwd_lesson_attendance
  WHERE dt = :biz_date AND attended
)
GROUP BY user_id
