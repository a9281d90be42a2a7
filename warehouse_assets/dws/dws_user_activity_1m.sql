SELECT
  user_id,
  count(*)              AS active_days,
  sum(paid_orders)      AS paid_orders,
  sum(attended_lessons) AS attended_lessons
FROM dws_user_activity_1d
WHERE dt BETWEEN :biz_date AND last_day(:biz_date)
GROUP BY user_id
