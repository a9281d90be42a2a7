SELECT
  course_id,
  sum(orders) AS orders,
  sum(gmv)    AS gmv
FROM dws_course_orders_1d
WHERE dt BETWEEN date_trunc('month', :biz_date) AND :biz_date
GROUP BY course_id
