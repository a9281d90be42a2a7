-- Joins over many slices: looked up by what is equal, or ruled out together; no limit on how many.

-- case: a_year_of_two_daily_tables
-- reads: d_orders = Range -364..0; d_users = Range -364..0
SELECT o.x FROM d_orders AS o JOIN d_users AS u ON u.dt = o.dt AND u.user_id = o.user_id
WHERE o.dt BETWEEN date_sub(:biz_date, 364) AND :biz_date;

-- case: a_year_by_using
-- reads: d_orders = Range -364..0; d_users = Range -364..0
SELECT o.x FROM d_orders AS o JOIN d_users AS u USING (dt, user_id)
WHERE o.dt BETWEEN date_sub(:biz_date, 364) AND :biz_date;

-- case: a_year_of_a_left_join
-- reads: d_orders = Range -364..0; d_users = Range -364..0
SELECT o.x FROM d_orders AS o LEFT JOIN d_users AS u ON u.dt = o.dt
WHERE o.dt BETWEEN date_sub(:biz_date, 364) AND :biz_date;

-- case: a_year_of_three_in_a_chain
-- reads: d_orders = Range -364..0; d_users = Range -364..0; d_items = Range -364..0
SELECT o.x FROM d_orders AS o JOIN d_users AS u ON u.dt = o.dt JOIN d_items AS i ON i.dt = u.dt
WHERE o.dt BETWEEN date_sub(:biz_date, 364) AND :biz_date;

-- case: a_year_by_exists
-- reads: d_orders = Range -364..0; d_users = Range -364..0
SELECT o.x FROM d_orders AS o WHERE o.dt BETWEEN date_sub(:biz_date, 364) AND :biz_date
  AND EXISTS (SELECT 1 FROM d_users AS u WHERE u.dt = o.dt AND u.user_id = o.user_id);

-- case: a_year_by_in
-- reads: d_orders = Range -364..0; d_calendar = Range -364..0
SELECT o.x FROM d_orders AS o
WHERE o.dt IN (SELECT dt FROM d_calendar WHERE dt BETWEEN date_sub(:biz_date, 364) AND :biz_date);

-- case: a_year_against_the_day_before
-- reads: d_orders = Range -364..0; d_users = Range -365..-1
SELECT o.x FROM d_orders AS o JOIN d_users AS u ON u.dt = date_sub(o.dt, 1)
WHERE o.dt BETWEEN date_sub(:biz_date, 364) AND :biz_date;

-- case: a_quarter_of_sliding_weeks
-- reads: d_orders = Range -89..0; d_users = Range -95..0
SELECT o.x FROM d_orders AS o JOIN d_users AS u ON u.dt BETWEEN date_sub(o.dt, 6) AND o.dt
WHERE o.dt BETWEEN date_sub(:biz_date, 89) AND :biz_date;

-- case: a_week_of_two_hourly_tables
-- reads: h_orders = all day -6..0; h_clicks = all day -6..0
SELECT o.x FROM h_orders AS o JOIN h_clicks AS u ON u.dt = o.dt AND u.hour = o.hour
WHERE o.dt BETWEEN date_sub(:biz_date, 6) AND :biz_date;

-- case: a_month_of_hours
-- reads: h_orders = all day -30..0
SELECT x FROM h_orders WHERE dt BETWEEN date_sub(:biz_date, 30) AND :biz_date;

-- case: hours_of_a_month_beside_days
-- reads: h_orders = all day -30..0; d_users = Range -30..0
SELECT o.x FROM h_orders AS o JOIN d_users AS u ON u.dt = o.dt
WHERE o.dt BETWEEN date_sub(:biz_date, 30) AND :biz_date;

-- case: an_hour_that_its_partner_lacks_where_clocks_change_is_not_read
-- reads: h_orders = undecidable: no offset; h_clicks = undecidable: no offset
SELECT o.x FROM h_orders AS o JOIN h_clicks AS u ON u.dt = date_sub(o.dt, 7) AND u.hour = o.hour
WHERE o.dt BETWEEN date_sub(:biz_date, 6) AND :biz_date;

-- case: a_left_join_keeps_its_left_side
-- reads: d_orders = undecidable; d_users = Range -364..0
SELECT o.x FROM d_orders AS o LEFT JOIN d_users AS u ON u.dt = o.dt
  AND u.dt BETWEEN date_sub(:biz_date, 364) AND :biz_date;

-- case: an_anti_join_keeps_its_left_side
-- reads: d_orders = Range -99..0; d_users = Range -99..0
SELECT o.x FROM d_orders AS o LEFT ANTI JOIN d_users AS u ON u.dt = o.dt AND u.user_id = o.user_id
WHERE o.dt BETWEEN date_sub(:biz_date, 99) AND :biz_date;

-- case: not_equal_restricts_nothing
-- reads: d_orders = Range -99..0; d_users = undecidable
SELECT o.x FROM d_orders AS o JOIN d_users AS u ON u.dt <> o.dt
WHERE o.dt BETWEEN date_sub(:biz_date, 99) AND :biz_date;

-- case: equal_or_another_day
-- reads: d_orders = Range -29..0; d_users = Range -59..0
SELECT o.x FROM d_orders AS o JOIN d_users AS u ON (u.dt = o.dt OR u.dt = date_sub(o.dt, 30))
WHERE o.dt BETWEEN date_sub(:biz_date, 29) AND :biz_date;

-- case: null_safe_equality_over_a_full_join
-- reads: d_orders = undecidable; d_users = undecidable
SELECT o.x FROM d_orders AS o FULL JOIN d_users AS u ON u.dt <=> o.dt
WHERE o.dt BETWEEN date_sub(:biz_date, 29) AND :biz_date OR u.dt = :biz_date;

-- case: not_in_restricts_nothing
-- reads: d_orders = Range -99..0; d_users = Range -19..0
SELECT o.x FROM d_orders AS o WHERE o.dt BETWEEN date_sub(:biz_date, 99) AND :biz_date
  AND o.dt NOT IN (SELECT u.dt FROM d_users AS u WHERE u.dt BETWEEN date_sub(:biz_date, 19) AND :biz_date);

-- case: a_row_that_is_made_up_is_equal_by_its_default
-- reads: d_users = Set 0; d_clicks = Set 0
SELECT b.x FROM (SELECT dt, u FROM d_users WHERE dt = :biz_date AND x > 9) AS a
RIGHT JOIN d_clicks AS b ON a.u = b.u WHERE coalesce(a.dt, :biz_date) = b.dt;

-- case: a_row_that_is_made_up_is_another_day_by_its_default
-- reads: d_users = Set 0; d_clicks = Set -1,0
SELECT b.x FROM (SELECT dt, u FROM d_users WHERE dt = :biz_date AND x > 9) AS a
RIGHT JOIN d_clicks AS b ON a.u = b.u WHERE coalesce(a.dt, date_sub(:biz_date, 1)) = b.dt;
