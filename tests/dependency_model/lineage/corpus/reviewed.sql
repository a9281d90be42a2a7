-- case: not_like
-- reads: h_clicks = Range 10..23
SELECT * FROM h_clicks WHERE dt = :biz_date AND hour NOT LIKE '0%';

-- case: not_like_is_like_negated
-- reads: h_clicks = Range 10..23
SELECT * FROM h_clicks WHERE dt = :biz_date AND NOT hour LIKE '0%';

-- case: days_of_a_month_by_their_text
-- down: month
-- reads: d_orders = all
SELECT user_id, sum(x) AS x FROM d_orders
WHERE CAST(dt AS STRING) LIKE concat(date_format(:biz_date, 'yyyy-MM'), '-%') GROUP BY user_id;

-- case: days_that_are_not_like_a_year
-- reads: d_orders = Set -1,0
SELECT * FROM d_orders WHERE dt BETWEEN date_sub(:biz_date, 1) AND :biz_date AND CAST(dt AS STRING) NOT LIKE '1999-%';

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

-- case: places_of_a_list_that_is_not_known
-- reads: d_orders = undecidable: the function
SELECT o.x FROM (
  SELECT date_sub(:biz_date, at) AS day FROM (SELECT posexplode(split(space(6), ' ')) AS (at, blank))
) AS c JOIN d_orders AS o ON o.dt = c.day;

-- case: values_and_places_of_a_sequence
-- reads: d_orders = Range -6..0
SELECT o.x, c.at FROM (SELECT posexplode(sequence(date_sub(:biz_date, 6), :biz_date)) AS (at, day)) AS c
JOIN d_orders AS o ON o.dt = c.day;

-- case: left_join_that_is_an_inner_one
-- reads: d_orders = Set 0; d_users = Set 0
SELECT o.x FROM d_orders AS o LEFT JOIN d_users AS u ON u.user_id = o.user_id AND u.dt = o.dt WHERE u.dt = :biz_date;

-- case: chain_of_left_joins_that_are_inner_ones
-- reads: d_orders = Set -1; d_users = Set -1; d_clicks = Set 0
SELECT o.x FROM d_orders AS o LEFT JOIN d_users AS u ON u.user_id = o.user_id AND u.dt = o.dt
LEFT JOIN d_clicks AS c ON c.user_id = u.user_id AND c.dt = date_add(u.dt, 1) WHERE c.dt IN (:biz_date);

-- case: left_join_whose_made_up_rows_stay
-- reads: d_orders = undecidable: no condition bounds; d_users = undecidable: no condition bounds
SELECT o.x FROM d_orders AS o LEFT JOIN d_users AS u ON u.user_id = o.user_id AND u.dt = o.dt
WHERE u.dt = :biz_date OR u.dt IS NULL;

-- case: left_join_before_a_full_join
-- reads: d_orders = undecidable: no condition bounds; d_users = Set 0; d_clicks = undecidable: no condition bounds
SELECT o.x FROM d_orders AS o LEFT JOIN d_users AS u ON u.user_id = o.user_id AND u.dt = o.dt
FULL JOIN d_clicks AS c ON c.user_id = o.user_id WHERE u.dt = :biz_date;

-- case: more_joins_than_rounds
-- reads: d_orders = Set 0; d_clicks = Range -12..-1
SELECT o.x FROM d_orders AS o
LEFT JOIN d_clicks AS c1 ON c1.user_id = o.user_id AND c1.dt = date_sub(o.dt, 1)
LEFT JOIN d_clicks AS c2 ON c2.user_id = o.user_id AND c2.dt = date_sub(o.dt, 2)
LEFT JOIN d_clicks AS c3 ON c3.user_id = o.user_id AND c3.dt = date_sub(o.dt, 3)
LEFT JOIN d_clicks AS c4 ON c4.user_id = o.user_id AND c4.dt = date_sub(o.dt, 4)
LEFT JOIN d_clicks AS c5 ON c5.user_id = o.user_id AND c5.dt = date_sub(o.dt, 5)
LEFT JOIN d_clicks AS c6 ON c6.user_id = o.user_id AND c6.dt = date_sub(o.dt, 6)
LEFT JOIN d_clicks AS c7 ON c7.user_id = o.user_id AND c7.dt = date_sub(o.dt, 7)
LEFT JOIN d_clicks AS c8 ON c8.user_id = o.user_id AND c8.dt = date_sub(o.dt, 8)
LEFT JOIN d_clicks AS c9 ON c9.user_id = o.user_id AND c9.dt = date_sub(o.dt, 9)
LEFT JOIN d_clicks AS c10 ON c10.user_id = o.user_id AND c10.dt = date_sub(o.dt, 10)
LEFT JOIN d_clicks AS c11 ON c11.user_id = o.user_id AND c11.dt = date_sub(o.dt, 11)
LEFT JOIN d_clicks AS c12 ON c12.user_id = o.user_id AND c12.dt = date_sub(o.dt, 12)
WHERE o.dt = :biz_date;
