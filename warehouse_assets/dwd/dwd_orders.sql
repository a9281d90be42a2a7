SELECT
  o.order_id,
  o.user_id,
  o.course_id,
  c.subject,
  c.grade,
  o.status,
  o.amount,
  coalesce(o.discount, 0.00)            AS discount,
  o.amount - coalesce(o.discount, 0.00) AS net_amount,
  nullif(trim(o.note), '')              AS note,
  o.created_at,
  o.paid_at,
  o.status = 'paid' AND to_date(o.paid_at) <=> :biz_date AS paid_today
FROM ods_orders AS o
LEFT JOIN ods_courses AS c
  ON c.course_id = o.course_id AND c.dt = :biz_date
WHERE o.dt = :biz_date
  AND (to_date(o.created_at) = :biz_date OR to_date(o.paid_at) = :biz_date)
