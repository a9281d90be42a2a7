-- case: not_like
-- reads: h_clicks = Range 10..23
SELECT * FROM h_clicks WHERE dt = :biz_date AND hour NOT LIKE '0%';

-- case: not_like_is_like_negated
-- reads: h_clicks = Range 10..23
SELECT * FROM h_clicks WHERE dt = :biz_date AND NOT hour LIKE '0%';

-- case: two_dates_by_a_flag
-- reads: d_orders = Set 0; d_rates = Set -7,0
SELECT o.x * r.rate FROM d_orders AS o LEFT JOIN d_rates AS r ON r.currency = o.currency
AND r.dt = CASE WHEN o.is_late THEN date_sub(:biz_date, 7) ELSE :biz_date END
WHERE o.dt = :biz_date;

-- case: dates_so_far_back_by_a_flag
-- reads: d_orders = Set -30,-7,0
SELECT * FROM d_orders WHERE dt = date_sub(:biz_date, CASE kind WHEN 'a' THEN 30 WHEN 'b' THEN 7 ELSE 0 END);

-- case: effective_date_of_late_rows
-- reads: d_orders = Set -7,0
SELECT * FROM (SELECT x, if(is_late, date_add(dt, 7), dt) AS effective FROM d_orders) WHERE effective = :biz_date;

-- case: a_flag_inside_a_flag
-- reads: d_orders = Set -9,-7,-2,0
SELECT * FROM d_orders
WHERE date_add(if(is_late, date_add(dt, if(is_holiday, 7, 0)), dt), if(is_early, 2, 0)) = :biz_date;
