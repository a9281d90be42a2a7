-- As people write for Hive: zipper tables, full and incremental partitions, retention. Judged by hand before they were run.

-- case: daily_increment
-- reads: d_orders = Set 0
SELECT order_id, user_id, amount FROM d_orders WHERE dt = :biz_date;

-- case: dwd_left_join_yesterdays_dimension
-- reads: d_orders = Set 0; d_users = Set -1
SELECT o.*, u.city FROM d_orders o LEFT JOIN (SELECT * FROM d_users WHERE dt = date_sub(:biz_date, 1)) u ON o.user_id = u.user_id
WHERE o.dt = :biz_date;

-- case: full_merge_of_yesterday_and_increment
-- reads: d_total = Set -1; d_orders = Set 0
SELECT coalesce(n.order_id, o.order_id) AS order_id, coalesce(n.status, o.status) AS status
FROM (SELECT * FROM d_total WHERE dt = date_sub(:biz_date, 1)) o
FULL OUTER JOIN (SELECT * FROM d_orders WHERE dt = :biz_date) n ON o.order_id = n.order_id;

-- case: full_merge_by_union_and_row_number
-- reads: d_total = Set -1; d_orders = Set 0
SELECT order_id, status FROM (
  SELECT order_id, status, row_number() OVER (PARTITION BY order_id ORDER BY updated_at DESC) AS rn
  FROM (SELECT order_id, status, updated_at FROM d_total WHERE dt = date_sub(:biz_date, 1)
        UNION ALL SELECT order_id, status, updated_at FROM d_orders WHERE dt = :biz_date) t
) s WHERE rn = 1;

-- case: full_merge_by_anti_join
-- reads: d_orders = Set 0; d_total = Set -1
SELECT order_id, status FROM d_orders WHERE dt = :biz_date
UNION ALL
SELECT o.order_id, o.status FROM d_total o LEFT JOIN d_orders n ON o.order_id = n.order_id AND n.dt = :biz_date
WHERE o.dt = date_sub(:biz_date, 1) AND n.order_id IS NULL;

-- case: zipper_close_and_open
-- reads: d_total = Set -1; d_users = Set 0
SELECT z.user_id, z.level, z.start_date,
  CASE WHEN n.user_id IS NOT NULL AND z.end_date = '9999-12-31' THEN cast(date_sub(:biz_date, 1) AS STRING) ELSE z.end_date END AS end_date
FROM d_total z LEFT JOIN (SELECT * FROM d_users WHERE dt = :biz_date) n ON z.user_id = n.user_id
WHERE z.dt = date_sub(:biz_date, 1)
UNION ALL
SELECT user_id, level, cast(:biz_date AS STRING), '9999-12-31' FROM d_users WHERE dt = :biz_date;

-- case: zipper_read_as_of_a_day
-- reads: d_total = Set 0; d_orders = Set 0
SELECT o.order_id, z.level FROM d_orders o JOIN d_total z ON z.user_id = o.user_id AND z.dt = o.dt
WHERE o.dt = :biz_date AND z.start_date <= cast(:biz_date AS STRING) AND z.end_date > cast(:biz_date AS STRING);

-- case: zipper_changed_rows_by_md5
-- reads: d_users = Set -1,0
SELECT n.user_id FROM d_users n JOIN d_users o ON o.user_id = n.user_id
WHERE n.dt = :biz_date AND o.dt = date_add(:biz_date, -1)
  AND md5(concat_ws('|', n.level, n.city)) <> md5(concat_ws('|', o.level, o.city));

-- case: deleted_since_yesterday
-- reads: d_users = Set -1,0
SELECT o.user_id FROM d_users o WHERE o.dt = date_sub(:biz_date, 1)
  AND NOT EXISTS (SELECT 1 FROM d_users n WHERE n.dt = :biz_date AND n.user_id = o.user_id);

-- case: day_over_day
-- reads: d_orders = Set -1,0
SELECT sum(if(dt = :biz_date, amount, 0)) / sum(if(dt = date_sub(:biz_date, 1), amount, 0)) - 1 AS dod
FROM d_orders WHERE dt IN (:biz_date, date_sub(:biz_date, 1));

-- case: week_over_week
-- reads: d_orders = Set -7,0
SELECT t.amount / l.amount AS wow FROM (SELECT sum(amount) AS amount FROM d_orders WHERE dt = :biz_date) t
CROSS JOIN (SELECT sum(amount) AS amount FROM d_orders WHERE dt = date_sub(:biz_date, 7)) l;

-- case: last_seven_days
-- reads: d_clicks = Range -6..0
SELECT user_id, count(*) AS pv FROM d_clicks WHERE dt >= date_sub(:biz_date, 6) AND dt <= :biz_date GROUP BY user_id;

-- case: last_thirty_days_open_below
-- reads: d_clicks = Range -29..0
SELECT user_id, count(DISTINCT dt) AS days FROM d_clicks WHERE dt > date_sub(:biz_date, 30) AND dt <= :biz_date GROUP BY user_id;

-- case: last_ninety_days_by_datediff
-- reads: d_clicks = Range -89..0
SELECT user_id FROM d_clicks WHERE datediff(:biz_date, dt) BETWEEN 0 AND 89;

-- case: last_seven_days_by_datediff_open
-- reads: d_clicks = Range -6..0
SELECT user_id FROM d_clicks WHERE datediff(:biz_date, dt) < 7 AND dt <= :biz_date;

-- case: seven_one_and_thirty_days_in_one_pass
-- reads: d_orders = Range -29..0
SELECT user_id, sum(if(dt = :biz_date, amount, 0)) AS d1, sum(if(dt >= date_sub(:biz_date, 6), amount, 0)) AS d7, sum(amount) AS d30
FROM d_orders WHERE dt BETWEEN date_sub(:biz_date, 29) AND :biz_date GROUP BY user_id;

-- case: last_three_days_by_exploding_days
-- reads: d_orders = Range -2..0
SELECT recent_days, count(*) FROM d_orders LATERAL VIEW explode(array(1, 2, 3)) tmp AS recent_days
WHERE dt BETWEEN date_sub(:biz_date, 2) AND :biz_date AND dt >= date_sub(:biz_date, recent_days - 1) GROUP BY recent_days;

-- case: next_day_retention
-- reads: d_users = Set -1; d_clicks = Set 0
SELECT count(DISTINCT c.user_id) / count(DISTINCT u.user_id) AS retention
FROM d_users u LEFT JOIN d_clicks c ON c.user_id = u.user_id AND c.dt = :biz_date
WHERE u.dt = date_sub(:biz_date, 1) AND u.is_new = 1;

-- case: retention_after_1_3_and_7_days
-- reads: d_users = Set -7,-3,-1; d_clicks = Set 0
SELECT u.dt AS registered, count(DISTINCT u.user_id) AS news, count(DISTINCT c.user_id) AS kept
FROM d_users u LEFT JOIN d_clicks c ON c.user_id = u.user_id AND c.dt = :biz_date
WHERE u.dt IN (date_sub(:biz_date, 1), date_sub(:biz_date, 3), date_sub(:biz_date, 7)) AND u.is_new = 1 GROUP BY u.dt;

-- case: retention_of_a_cohort_a_week_ago
-- reads: d_users = Set -7; d_clicks = Range -6..0
SELECT datediff(c.dt, u.dt) AS day_n, count(DISTINCT c.user_id) AS kept FROM d_users u
JOIN d_clicks c ON c.user_id = u.user_id AND c.dt BETWEEN date_add(u.dt, 1) AND date_add(u.dt, 7)
WHERE u.dt = date_sub(:biz_date, 7) GROUP BY datediff(c.dt, u.dt);

-- case: retention_matrix_of_thirty_days
-- reads: d_users = Range -30..-1; d_clicks = Set 0
SELECT datediff(c.dt, u.dt) AS n, count(DISTINCT u.user_id) FROM d_users u JOIN d_clicks c ON c.user_id = u.user_id
WHERE c.dt = :biz_date AND u.dt BETWEEN date_sub(:biz_date, 30) AND date_sub(:biz_date, 1) GROUP BY datediff(c.dt, u.dt);

-- case: silent_users
-- reads: d_users = Set 0; d_clicks = Range -6..0
SELECT u.user_id FROM d_users u LEFT JOIN (SELECT DISTINCT user_id FROM d_clicks WHERE dt BETWEEN date_sub(:biz_date, 6) AND :biz_date) c
  ON c.user_id = u.user_id WHERE u.dt = :biz_date AND c.user_id IS NULL;

-- case: returning_users
-- reads: d_clicks = Range -14..0
SELECT t.user_id FROM (SELECT DISTINCT user_id FROM d_clicks WHERE dt = :biz_date) t
LEFT JOIN (SELECT DISTINCT user_id FROM d_clicks WHERE dt BETWEEN date_sub(:biz_date, 7) AND date_sub(:biz_date, 1)) w ON w.user_id = t.user_id
JOIN (SELECT DISTINCT user_id FROM d_clicks WHERE dt BETWEEN date_sub(:biz_date, 14) AND date_sub(:biz_date, 8)) b ON b.user_id = t.user_id
WHERE w.user_id IS NULL;

-- case: lost_users_of_exactly_a_week
-- reads: d_clicks = Range -7..0
SELECT o.user_id FROM d_clicks o WHERE o.dt = date_sub(:biz_date, 7)
  AND o.user_id NOT IN (SELECT n.user_id FROM d_clicks n WHERE n.dt BETWEEN date_sub(:biz_date, 6) AND :biz_date);

-- case: three_days_in_a_row_in_a_week
-- reads: d_clicks = Range -6..0
SELECT user_id FROM (
  SELECT user_id, date_sub(dt, rk) AS diff FROM (
    SELECT user_id, dt, rank() OVER (PARTITION BY user_id ORDER BY dt) AS rk FROM d_clicks
    WHERE dt BETWEEN date_add(:biz_date, -6) AND :biz_date) t1) t2
GROUP BY user_id, diff HAVING count(*) >= 3;

-- case: new_devices_of_the_day
-- reads: d_clicks = Set 0; d_total = Set -1
SELECT DISTINCT c.user_id FROM d_clicks c LEFT JOIN d_total t ON t.user_id = c.user_id AND t.dt = date_sub(:biz_date, 1)
WHERE c.dt = :biz_date AND t.user_id IS NULL;

-- case: cumulative_totals_from_yesterdays
-- reads: d_total = Set -1; d_orders = Set 0
SELECT nvl(o.user_id, n.user_id) AS user_id, nvl(o.total, 0) + nvl(n.amount, 0) AS total
FROM (SELECT user_id, total FROM d_total WHERE dt = date_add(:biz_date, -1)) o
FULL JOIN (SELECT user_id, sum(amount) AS amount FROM d_orders WHERE dt = :biz_date GROUP BY user_id) n ON n.user_id = o.user_id;

-- case: sliding_sum_from_yesterdays
-- reads: d_total = Set -1; d_orders = Set -30,0
SELECT t.user_id, t.sum30 + nvl(i.amount, 0) - nvl(o.amount, 0) AS sum30 FROM d_total t
LEFT JOIN d_orders i ON i.user_id = t.user_id AND i.dt = :biz_date
LEFT JOIN d_orders o ON o.user_id = t.user_id AND o.dt = date_sub(:biz_date, 30)
WHERE t.dt = date_sub(:biz_date, 1);

-- case: month_to_date
-- reads: d_orders = to_date month
SELECT sum(amount) FROM d_orders WHERE dt >= trunc(:biz_date, 'MM') AND dt <= :biz_date;

-- case: month_to_date_by_substr
-- reads: d_orders = to_date month
SELECT sum(amount) FROM d_orders WHERE substr(dt, 1, 7) = substr(:biz_date, 1, 7) AND dt <= :biz_date;

-- case: month_to_date_by_concat
-- reads: d_orders = to_date month
SELECT sum(amount) FROM d_orders WHERE dt BETWEEN concat(substr(:biz_date, 1, 8), '01') AND :biz_date;

-- case: year_to_date
-- reads: d_orders = to_date year
SELECT sum(amount) FROM d_orders WHERE dt BETWEEN trunc(:biz_date, 'YYYY') AND :biz_date;

-- case: quarter_to_date_by_arithmetic
-- reads: d_orders = to_date quarter
SELECT sum(amount) FROM d_orders WHERE year(dt) = year(:biz_date) AND quarter(dt) = quarter(:biz_date) AND dt <= :biz_date;

-- case: week_to_date_by_next_day
-- reads: d_orders = to_date week
SELECT sum(amount) FROM d_orders WHERE dt BETWEEN date_sub(next_day(:biz_date, 'MO'), 7) AND :biz_date;

-- case: whole_week_by_next_day
-- reads: d_orders = all week
SELECT sum(amount) FROM d_orders WHERE dt BETWEEN date_sub(next_day(:biz_date, 'MO'), 7) AND date_sub(next_day(:biz_date, 'MO'), 1);

-- case: last_whole_week_by_next_day
-- reads: d_orders = all week -1
SELECT sum(amount) FROM d_orders WHERE dt BETWEEN date_sub(next_day(:biz_date, 'MO'), 14) AND date_sub(next_day(:biz_date, 'MO'), 8);

-- case: last_whole_month
-- reads: d_orders = all month -1
SELECT sum(amount) FROM d_orders WHERE dt BETWEEN trunc(add_months(:biz_date, -1), 'MM') AND last_day(add_months(:biz_date, -1));

-- case: last_whole_month_by_text
-- reads: d_orders = all month -1
SELECT sum(amount) FROM d_orders WHERE date_format(dt, 'yyyy-MM') = date_format(add_months(:biz_date, -1), 'yyyy-MM');

-- case: last_day_of_last_month
-- reads: d_total = last of month -1
SELECT * FROM d_total WHERE dt = last_day(add_months(:biz_date, -1));

-- case: day_before_the_first_of_the_month
-- reads: d_total = last of month -1
SELECT * FROM d_total WHERE dt = date_sub(trunc(:biz_date, 'MM'), 1);

-- case: first_of_the_month_by_dayofmonth
-- reads: d_total = first of month
SELECT * FROM d_total WHERE dt = date_sub(:biz_date, dayofmonth(:biz_date) - 1);

-- case: same_day_last_month
-- reads: d_orders = date -1 month
SELECT sum(amount) FROM d_orders WHERE dt = add_months(:biz_date, -1);

-- case: same_day_last_year_and_today
-- reads: d_orders = date -1,0 year
SELECT dt, sum(amount) FROM d_orders WHERE dt = :biz_date OR dt = add_months(:biz_date, -12) GROUP BY dt;

-- case: month_of_days
-- down: month
-- reads: d_orders = all
SELECT user_id, sum(amount) FROM d_orders WHERE dt BETWEEN :biz_date AND last_day(:biz_date) GROUP BY user_id;

-- case: month_of_days_by_text
-- down: month
-- reads: d_orders = all
SELECT user_id, sum(amount) FROM d_orders WHERE date_format(dt, 'yyyy-MM') = date_format(:biz_date, 'yyyy-MM') GROUP BY user_id;

-- case: month_end_snapshot
-- down: month
-- reads: d_total = last of month
SELECT * FROM d_total WHERE dt = last_day(:biz_date);

-- case: opening_and_closing_balance
-- down: month
-- reads: d_total = last of month -1,0
SELECT c.account, c.balance - o.balance FROM d_total c JOIN d_total o ON o.account = c.account
WHERE c.dt = last_day(:biz_date) AND o.dt = last_day(add_months(:biz_date, -1));

-- case: month_against_its_targets
-- down: month
-- reads: d_orders = all; m_targets = Set 0
SELECT sum(o.amount) / max(t.target) FROM d_orders o CROSS JOIN (SELECT target FROM m_targets WHERE dt = :biz_date) t
WHERE o.dt >= :biz_date AND o.dt < add_months(:biz_date, 1);

-- case: rolling_twelve_months
-- down: month
-- reads: m_targets = Range -11..0
SELECT sum(target) FROM m_targets WHERE dt > add_months(:biz_date, -12) AND dt <= :biz_date;

-- case: month_over_month
-- down: month
-- reads: m_targets = Set -1,0
SELECT a.target / b.target FROM m_targets a LEFT JOIN m_targets b ON b.dt = add_months(a.dt, -1) WHERE a.dt = :biz_date;

-- case: year_over_year_of_months
-- down: month
-- reads: m_targets = Set -12,0
SELECT a.target / b.target FROM m_targets a JOIN m_targets b ON b.dt = add_months(a.dt, -12) WHERE a.dt = :biz_date;

-- case: week_of_days
-- down: week
-- reads: d_orders = all
SELECT sum(amount) FROM d_orders WHERE dt BETWEEN :biz_date AND date_add(:biz_date, 6);

-- case: week_of_days_by_weekofyear
-- down: week
-- reads: d_orders = all
SELECT sum(amount) FROM d_orders WHERE next_day(dt, 'MO') = next_day(:biz_date, 'MO');

-- case: week_against_the_week_before
-- down: week
-- reads: w_sales = Set -1,0
SELECT a.x - b.x FROM w_sales a JOIN w_sales b ON b.dt = date_sub(a.dt, 7) WHERE a.dt = :biz_date;

-- case: active_both_weeks
-- down: week
-- reads: d_clicks = Range -7..6
SELECT count(*) FROM (SELECT DISTINCT user_id FROM d_clicks WHERE dt BETWEEN :biz_date AND date_add(:biz_date, 6)) a
JOIN (SELECT DISTINCT user_id FROM d_clicks WHERE dt BETWEEN date_sub(:biz_date, 7) AND date_sub(:biz_date, 1)) b ON a.user_id = b.user_id;

-- case: quarter_of_days
-- down: quarter
-- reads: d_orders = all
SELECT sum(amount) FROM d_orders WHERE dt >= :biz_date AND dt < add_months(:biz_date, 3);

-- case: year_of_months
-- down: year
-- reads: m_targets = all
SELECT sum(target) FROM m_targets WHERE year(dt) = year(:biz_date);

-- case: hours_to_a_day
-- reads: h_clicks = all
SELECT hour, count(*) FROM h_clicks WHERE dt = :biz_date GROUP BY hour;

-- case: an_hourly_increment
-- down: hour
-- reads: h_orders = Set 0
SELECT * FROM h_orders WHERE dt = :biz_date AND hour = :biz_hour;

-- case: hours_of_the_day_so_far
-- down: hour
-- reads: h_orders = to_date day
SELECT sum(amount) FROM h_orders WHERE dt = :biz_date AND hour <= :biz_hour;

-- case: hour_joined_to_yesterdays_dimension
-- down: hour
-- reads: h_orders = Set 0; d_users = Set -1
SELECT * FROM h_orders o LEFT JOIN d_users u ON u.user_id = o.user_id AND u.dt = date_sub(:biz_date, 1)
WHERE o.dt = :biz_date AND o.hour = :biz_hour;

-- case: sliding_week_of_each_day_of_a_month
-- reads: d_orders = Range -29..0; d_clicks = Range -35..0
SELECT o.dt, count(DISTINCT c.user_id) FROM d_orders o JOIN d_clicks c ON c.dt BETWEEN date_sub(o.dt, 6) AND o.dt
WHERE o.dt BETWEEN date_sub(:biz_date, 29) AND :biz_date GROUP BY o.dt;

-- case: attribution_of_orders_to_clicks_within_a_week
-- reads: d_orders = Set 0; d_clicks = Range -7..0
SELECT o.order_id, max(c.campaign) FROM d_orders o JOIN d_clicks c
  ON c.user_id = o.user_id AND datediff(o.dt, c.dt) >= 0 AND datediff(o.dt, c.dt) <= 7
WHERE o.dt = :biz_date GROUP BY o.order_id;

-- case: orders_with_their_later_returns
-- reads: d_orders = Range -14..0; d_returns = Range -14..0
SELECT o.order_id, r.reason FROM d_orders o LEFT JOIN d_returns r ON r.order_id = o.order_id AND r.dt >= o.dt AND r.dt <= :biz_date
WHERE o.dt BETWEEN date_sub(:biz_date, 14) AND :biz_date;

-- case: multi_way_dwd
-- reads: d_orders = Set 0; d_users = Set 0; d_items = Set 0; d_stores = Set 0; s_regions = static
SELECT o.order_id, u.level, i.category, s.name, r.region FROM d_orders o
LEFT JOIN d_users u ON u.user_id = o.user_id AND u.dt = :biz_date
LEFT JOIN d_items i ON i.item_id = o.item_id AND i.dt = :biz_date
LEFT JOIN d_stores s ON s.store_id = o.store_id AND s.dt = :biz_date
LEFT JOIN s_regions r ON r.region_id = s.region_id
WHERE o.dt = :biz_date;

-- case: dimension_of_the_partition_of_the_fact
-- reads: d_orders = Range -6..0; d_users = Range -6..0
SELECT o.order_id, u.level FROM d_orders o JOIN d_users u ON u.user_id = o.user_id AND u.dt = o.dt
WHERE o.dt >= date_sub(:biz_date, 6) AND o.dt <= :biz_date;

-- case: grouping_sets
-- reads: d_orders = Set 0
SELECT city, category, sum(amount) FROM d_orders WHERE dt = :biz_date GROUP BY city, category GROUPING SETS ((city), (category), ());

-- case: cube_over_a_week
-- reads: d_orders = Range -6..0
SELECT city, category, sum(amount) FROM d_orders WHERE dt BETWEEN date_sub(:biz_date, 6) AND :biz_date GROUP BY CUBE (city, category);

-- case: lateral_view_of_tags
-- reads: d_users = Set 0
SELECT tag, count(*) FROM d_users LATERAL VIEW explode(split(tags, ',')) t AS tag WHERE dt = :biz_date GROUP BY tag;

-- case: json_of_events
-- reads: d_clicks = Set 0
SELECT get_json_object(line, '$.common.mid') AS mid FROM d_clicks WHERE dt = :biz_date AND get_json_object(line, '$.start') IS NOT NULL;

-- case: late_events_land_the_next_day
-- reads: d_clicks = Set 0,1
SELECT * FROM d_clicks WHERE dt BETWEEN :biz_date AND date_add(:biz_date, 1) AND to_date(event_time) = :biz_date;

-- case: cross_midnight_sessions
-- reads: e_events = Range -6..287
SELECT session_id, min(ts) FROM e_events
WHERE dt = :biz_date OR (dt = date_sub(:biz_date, 1) AND hour = '23' AND minute >= '30') GROUP BY session_id;

-- case: cross_midnight_by_hours
-- reads: h_clicks = Range -2..23
SELECT * FROM h_clicks WHERE dt = :biz_date OR (dt = date_sub(:biz_date, 1) AND hour IN ('22', '23'));

-- case: business_day_from_four_to_four_where_clocks_change
-- reads: h_orders = Range 4..23 and Range 0..3 of day 1
SELECT sum(amount) FROM h_orders WHERE (dt = :biz_date AND hour >= '04') OR (dt = date_add(:biz_date, 1) AND hour < '04');

-- case: backfill_of_a_fixed_day
-- reads: d_orders = undecidable
SELECT * FROM d_orders WHERE dt = '2024-06-18';

-- case: newest_partition_by_max
-- reads: d_orders = Set 0; d_users = undecidable
SELECT * FROM d_orders o JOIN d_users u ON u.user_id = o.user_id
WHERE o.dt = :biz_date AND u.dt = (SELECT max(dt) FROM d_users);

-- case: hour_of_the_entity_from_four_to_four
-- down: hour
-- reads: h_clicks = Range 4..23 of day and Range 0..3 of day 1
SELECT user_id, x FROM h_clicks WHERE dt = :biz_date AND hour >= '04' OR dt = date_add(:biz_date, 1) AND hour < '04';
