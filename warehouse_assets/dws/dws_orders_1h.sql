SELECT
  count(*)    AS paid_orders,
  coalesce(sum(amount), 0) AS gmv
FROM ods_orders_1h
WHERE dt = :biz_date AND hour = :biz_hour
  AND status = 'paid'
  AND to_date(paid_at) = :biz_date
  AND date_format(paid_at, 'HH') = :biz_hour
