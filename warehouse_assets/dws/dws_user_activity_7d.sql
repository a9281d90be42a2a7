SELECT
  user_id,
  count(*)              AS active_days,
  sum(paid_orders)      AS paid_orders,
  sum(attended_lessons) AS attended_lessons
FROM dws_user_activity_1d
WHERE dt BETWEEN date_sub(:biz_date, 6) AND :biz_date
GROUP BY user_id
