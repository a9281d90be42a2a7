SELECT
  d.course_id,
  d.orders,
  d.gmv,
  p.gmv AS gmv_previous_day,
  CAST(round((d.gmv - p.gmv) / nullif(p.gmv, 0), 4) AS DECIMAL(18, 4)) AS day_over_day
FROM dws_course_orders_1d AS d
LEFT JOIN dws_course_orders_1d AS p
  ON p.course_id = d.course_id AND p.dt = date_sub(:biz_date, 1)
WHERE d.dt = :biz_date
