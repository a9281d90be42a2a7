-- :biz_date is the day that is computed; from this condition follows which day of ods_orders it waits for.
SELECT order_id, city, amount
FROM ods_orders
WHERE dt = :biz_date AND status = 'paid'
