SELECT o.paid_orders, o.gmv, a.joins
FROM dws_orders_1h AS o
JOIN dws_attendance_1h AS a
  ON a.dt = o.dt AND a.hour = o.hour
WHERE o.dt = :biz_date AND o.hour = :biz_hour
