-- Offsets by the calendar: periods around the window, places in them, moved dates. Paris changes its clock.

-- case: yesterdays_hours
-- reads: h_clicks = all day -1
SELECT * FROM h_clicks WHERE dt = date_sub(:biz_date, 1);

-- case: seven_days_of_hours
-- reads: h_clicks = all day -6..0
SELECT * FROM h_clicks WHERE dt BETWEEN date_sub(:biz_date, 6) AND :biz_date;

-- case: seven_whole_days_of_hours_before
-- reads: h_clicks = all day -7..-1
SELECT * FROM h_clicks WHERE dt >= date_sub(:biz_date, 7) AND dt < :biz_date;

-- case: hours_of_today_and_a_week_ago
-- reads: h_clicks = all day -7,0
SELECT * FROM h_clicks WHERE dt IN (:biz_date, date_sub(:biz_date, 7));

-- case: five_minutes_of_yesterday
-- reads: e_events = all day -1
SELECT * FROM e_events WHERE dt = date_sub(:biz_date, 1);

-- case: yesterdays_hours_for_an_hour
-- down: hour
-- reads: h_clicks = all day -1
SELECT * FROM h_clicks WHERE dt = date_sub(:biz_date, 1);

-- case: same_hour_yesterday
-- down: hour
-- reads: h_clicks = date -1 day
SELECT * FROM h_clicks WHERE dt = date_sub(:biz_date, 1) AND hour = :biz_hour;

-- case: same_hour_of_seven_days
-- down: hour
-- reads: h_clicks = date -6..0 day
SELECT hour, avg(clicks) AS usual FROM h_clicks
WHERE dt BETWEEN date_sub(:biz_date, 6) AND :biz_date AND hour = :biz_hour GROUP BY hour;

-- case: same_hour_a_week_ago_against_now
-- down: hour
-- reads: h_clicks = date -7,0 day
SELECT now_.clicks / before.clicks AS ratio FROM h_clicks AS now_ LEFT JOIN h_clicks AS before
  ON before.dt = date_sub(now_.dt, 7) AND before.hour = now_.hour
WHERE now_.dt = :biz_date AND now_.hour = :biz_hour;

-- case: midnights_hour_of_the_day_before
-- reads: h_clicks = first of day -1
SELECT * FROM h_clicks WHERE dt = date_sub(:biz_date, 1) AND hour = '00';

-- case: the_days_last_hour
-- reads: h_clicks = Set 23
SELECT * FROM h_clicks WHERE dt = :biz_date AND hour = '23';

-- case: two_in_the_morning_of_seven_days_has_its_repeated_hour_apart
-- reads: h_clicks = Set 2 of day -6..0 once
SELECT * FROM h_clicks WHERE dt BETWEEN date_sub(:biz_date, 6) AND :biz_date AND hour = '02';

-- case: two_in_the_morning_with_its_repeated_hour
-- reads: h_clicks = Set 2 of day -6..0
SELECT * FROM h_clicks WHERE dt BETWEEN date_sub(:biz_date, 6) AND :biz_date AND substr(hour, 1, 2) = '02';

-- case: month_before
-- reads: d_orders = all month -1
SELECT * FROM d_orders
WHERE dt BETWEEN trunc(add_months(:biz_date, -1), 'MM') AND last_day(add_months(:biz_date, -1));

-- case: month_before_by_its_text
-- reads: d_orders = all month -1
SELECT * FROM d_orders WHERE date_format(dt, 'yyyy-MM') = date_format(add_months(:biz_date, -1), 'yyyy-MM');

-- case: this_month_and_the_one_before
-- reads: d_orders = all month -1,0
SELECT * FROM d_orders WHERE dt >= trunc(add_months(:biz_date, -1), 'MM') AND dt <= last_day(:biz_date);

-- case: whole_week_before
-- reads: d_orders = all week -1
SELECT * FROM d_orders
WHERE dt BETWEEN date_sub(trunc(:biz_date, 'WEEK'), 7) AND date_sub(trunc(:biz_date, 'WEEK'), 1);

-- case: week_before_in_hours
-- reads: h_clicks = all week -1
SELECT * FROM h_clicks WHERE date_trunc('WEEK', dt) = date_trunc('WEEK', date_sub(:biz_date, 7));

-- case: quarter_before
-- reads: d_orders = all quarter -1
SELECT * FROM d_orders WHERE trunc(dt, 'QUARTER') = trunc(add_months(:biz_date, -3), 'QUARTER');

-- case: year_before
-- reads: d_orders = all year -1
SELECT * FROM d_orders WHERE year(dt) = year(:biz_date) - 1;

-- case: first_of_the_month
-- reads: d_users = first of month
SELECT * FROM d_users WHERE dt = trunc(:biz_date, 'MM');

-- case: end_of_the_month_before
-- reads: d_users = last of month -1
SELECT * FROM d_users WHERE dt = last_day(add_months(:biz_date, -1));

-- case: the_day_before_the_month_began
-- reads: d_users = last of month -1
SELECT * FROM d_users WHERE dt = date_sub(trunc(:biz_date, 'MM'), 1);

-- case: end_of_the_year_before
-- reads: d_users = last of year -1
SELECT * FROM d_users WHERE dt = date_sub(trunc(:biz_date, 'YEAR'), 1);

-- case: monday_of_this_week
-- reads: d_users = first of week
SELECT * FROM d_users WHERE dt = trunc(:biz_date, 'WEEK');

-- case: friday_of_the_week_before
-- reads: d_users = Set 4 of week -1
SELECT * FROM d_users WHERE dt = date_sub(trunc(:biz_date, 'WEEK'), 3);

-- case: fifteenth_of_the_month
-- reads: d_users = Set 14 of month
SELECT * FROM d_users WHERE dt = date_add(trunc(:biz_date, 'MM'), 14);

-- case: opening_and_closing_stock
-- down: month
-- reads: d_items = last of month -1,0
SELECT * FROM d_items WHERE dt IN (last_day(:biz_date), date_sub(:biz_date, 1));

-- case: end_of_month_for_a_month
-- down: month
-- reads: d_items = last of month
SELECT * FROM d_items WHERE dt = last_day(:biz_date);

-- case: same_date_last_year
-- reads: d_orders = date -1 year
SELECT * FROM d_orders WHERE dt = add_months(:biz_date, -12);

-- case: same_date_last_year_by_interval
-- reads: d_orders = date -1 year
SELECT * FROM d_orders WHERE dt = :biz_date - INTERVAL 1 YEAR;

-- case: year_on_year_and_month_on_month
-- reads: d_orders = date -12,-1,0 month
SELECT * FROM d_orders WHERE dt IN (:biz_date, add_months(:biz_date, -1), add_months(:biz_date, -12));

-- case: today_yesterday_and_last_year
-- reads: d_orders = date -1 year and Set -1,0
SELECT * FROM d_orders WHERE dt IN (:biz_date, date_sub(:biz_date, 1), add_months(:biz_date, -12));

-- case: hours_of_the_date_last_year
-- reads: h_clicks = date -1 year
SELECT * FROM h_clicks WHERE dt = add_months(:biz_date, -12);

-- case: month_of_last_year
-- down: month
-- reads: d_orders = all month -12
SELECT * FROM d_orders WHERE dt BETWEEN add_months(:biz_date, -12) AND last_day(add_months(:biz_date, -12));

-- case: new_users_since_the_months_begin
-- reads: d_users = first of month and Set 0
SELECT now_.user_id FROM d_users AS now_ LEFT ANTI JOIN d_users AS before
  ON before.user_id = now_.user_id AND before.dt = trunc(:biz_date, 'MM')
WHERE now_.dt = :biz_date;

-- case: everything_so_far
-- reads: d_orders = since start
SELECT user_id, min(dt) AS first_seen FROM d_orders WHERE dt <= :biz_date GROUP BY user_id;

-- case: everything_so_far_in_hours
-- reads: h_clicks = since start
SELECT count(*) AS n FROM h_clicks WHERE dt < :biz_date OR dt = :biz_date;

-- case: everything_so_far_and_today
-- reads: d_orders = since start
SELECT t.user_id FROM d_orders AS t LEFT ANTI JOIN d_orders AS b ON b.user_id = t.user_id AND b.dt < :biz_date
WHERE t.dt = :biz_date;

-- case: since_a_fixed_day
-- reads: d_orders = since 2026-01-01
SELECT * FROM d_orders WHERE dt BETWEEN '2026-01-01' AND :biz_date;

-- case: since_a_fixed_day_for_a_month
-- down: month
-- reads: d_orders = since 2025-06-01
SELECT * FROM d_orders WHERE dt >= '2025-06-01' AND dt <= last_day(:biz_date);

-- case: a_zipper_tables_days_join_all_that_was_before
-- reads: d_orders = Set 0; d_users = since start
SELECT o.x FROM d_orders AS o JOIN d_users AS u ON u.user_id = o.user_id AND u.dt <= o.dt WHERE o.dt = :biz_date;

-- case: last_month_to_date
-- reads: d_orders = to_date month -1
SELECT sum(amount) FROM d_orders WHERE dt BETWEEN trunc(add_months(:biz_date, -1), 'MM') AND add_months(:biz_date, -1);

-- case: this_month_and_the_last_one_to_date
-- reads: d_orders = to_date month -1,0
SELECT sum(CASE WHEN dt >= trunc(:biz_date, 'MM') THEN amount END) AS mtd,
  sum(CASE WHEN dt < trunc(:biz_date, 'MM') THEN amount END) AS last_mtd
FROM d_orders
WHERE dt BETWEEN trunc(:biz_date, 'MM') AND :biz_date
   OR dt BETWEEN trunc(add_months(:biz_date, -1), 'MM') AND add_months(:biz_date, -1);

-- case: last_years_month_to_date
-- reads: d_orders = to_date month -12
SELECT sum(amount) FROM d_orders WHERE dt BETWEEN trunc(add_months(:biz_date, -12), 'MM') AND add_months(:biz_date, -12);

-- case: last_year_to_date_hour_by_hour
-- reads: h_orders = to_date year -1
SELECT sum(amount) FROM h_orders WHERE dt BETWEEN trunc(add_months(:biz_date, -12), 'YEAR') AND add_months(:biz_date, -12);

-- case: last_week_to_date
-- reads: d_orders = to_date week -1
SELECT sum(amount) FROM d_orders WHERE dt BETWEEN date_sub(trunc(:biz_date, 'week'), 7) AND date_sub(:biz_date, 7);

-- case: shifted_on_both_sides_from_the_turn_of_the_month
-- reads: d_orders = undecidable: no offset names the slices
SELECT * FROM d_orders
WHERE dt = :biz_date
  OR (date_add(trunc(:biz_date, 'MM'), 5) = date_sub(:biz_date, 6) AND dt = date_sub(:biz_date, 1));

-- case: shifted_on_both_sides_from_the_turn_of_the_year
-- reads: d_orders = undecidable: no offset names the slices
SELECT * FROM d_orders
WHERE dt = :biz_date
  OR (dt = date_sub(:biz_date, 1) AND date_sub(trunc(:biz_date, 'year'), 3) = date_sub(:biz_date, 18));

-- case: months_back_from_two_days
-- reads: d_orders = undecidable: no offset names the slices
SELECT * FROM d_orders
WHERE dt = :biz_date
  OR (dt = add_months(last_day(date_add(:biz_date, 3)), -3) AND dt = add_months(:biz_date, -3));

-- case: a_week_that_begins_with_its_year
-- down: week
-- reads: w_sales = undecidable: no offset names the slices
SELECT * FROM w_sales
WHERE dt = :biz_date OR (trunc(:biz_date, 'year') = :biz_date AND dt = date_sub(:biz_date, 7));
