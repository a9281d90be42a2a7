SELECT city, count(*) AS orders, sum(amount) AS amount
FROM dwd_paid_orders
WHERE dt = :biz_date
GROUP BY city
