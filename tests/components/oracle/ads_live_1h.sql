SELECT (SELECT COUNT(*) FROM oracle.orders
        WHERE status = 'paid' AND paid_at >= %(hour)s AND paid_at < %(hour)s + INTERVAL 1 HOUR) AS paid_orders,
       (SELECT COALESCE(SUM(amount), 0.00) FROM oracle.orders
        WHERE status = 'paid' AND paid_at >= %(hour)s AND paid_at < %(hour)s + INTERVAL 1 HOUR) AS gmv,
       (SELECT COUNT(*) FROM oracle.attendance
        WHERE joined_at >= %(hour)s AND joined_at < %(hour)s + INTERVAL 1 HOUR) AS joins
