SELECT
  course_id,
  count(*)                AS orders,
  count(DISTINCT user_id) AS buyers,
  sum(amount)             AS gmv
FROM dwd_orders
WHERE dt = :biz_date AND paid_today
GROUP BY course_id
