-- case: struct_of_a_cte
-- reads: d_orders = Set 0
WITH o AS (SELECT dt, payload FROM d_orders) SELECT o.payload.user.id AS user_id FROM o WHERE o.dt = :biz_date;

-- case: star_of_a_nested_struct
-- reads: d_orders = Set 0
SELECT code, note FROM (SELECT o.dt, o.city.zip.* FROM d_orders o) WHERE dt = :biz_date;

-- case: exploded_items_of_yesterday
-- reads: d_orders = Set -1
WITH e AS (SELECT dt, user_id, explode(items) FROM d_orders) SELECT user_id, col.price FROM e WHERE dt = date_sub(:biz_date, 1);

-- case: json_of_a_week
-- reads: d_orders = Range -6..0
SELECT c0, count(*) AS n FROM (SELECT dt, json_tuple(js, 'kind') FROM d_orders) WHERE dt BETWEEN date_sub(:biz_date, 6) AND :biz_date GROUP BY c0;

-- case: lateral_view_of_two_days
-- reads: d_orders = Set -1,0
SELECT o.user_id, t.price FROM d_orders o LATERAL VIEW inline(o.items) t WHERE o.dt IN (:biz_date, date_sub(:biz_date, 1));

-- case: unused_cte
-- reads: d_users = Set -1; d_orders = Set 0
WITH old AS (SELECT user_id FROM d_users WHERE dt = date_sub(:biz_date, 1)) SELECT user_id FROM d_orders WHERE dt = :biz_date;

-- case: filtered_array
-- reads: d_orders = Set 0
SELECT user_id, size(filter(items, i -> i.price > 10)) AS dear FROM d_orders WHERE dt = :biz_date;

-- case: user_who_ran_it
-- reads: d_orders = Set 0
SELECT user_id, current_user() AS loaded_by, user AS again FROM d_orders WHERE dt = :biz_date;

-- case: local_day_of_utc_hours
-- reads: h_clicks_utc = all
SELECT count(*) AS n FROM h_clicks_utc WHERE to_date(from_utc_timestamp(to_timestamp(concat(dt, ' ', hour, ':00:00')), 'Europe/Paris')) = :biz_date;

-- case: week_over_week
-- reads: d_orders = Set -7,0
SELECT t.user_id, t.amount - l.amount AS diff FROM d_orders t LEFT JOIN d_orders l ON l.user_id = t.user_id AND l.dt = date_sub(t.dt, 7) WHERE t.dt = :biz_date;

-- case: day_week_and_month_ago
-- reads: d_orders = Set -30,-7,-1,0
SELECT user_id, sum(if(dt = :biz_date, amount, 0)) AS today, sum(if(dt = date_sub(:biz_date, 1), amount, 0)) AS d1, sum(if(dt = date_sub(:biz_date, 7), amount, 0)) AS d7, sum(if(dt = date_sub(:biz_date, 30), amount, 0)) AS d30 FROM d_orders WHERE dt IN (:biz_date, date_sub(:biz_date, 1), date_sub(:biz_date, 7), date_sub(:biz_date, 30)) GROUP BY user_id;

-- case: zipper_table
-- reads: d_users = Set -1; d_orders = Set 0
SELECT coalesce(n.user_id, o.user_id) AS user_id, coalesce(n.status, o.status) AS status FROM (SELECT user_id, status FROM d_users WHERE dt = date_sub(:biz_date, 1)) o FULL JOIN (SELECT user_id, status FROM d_orders WHERE dt = :biz_date) n ON n.user_id = o.user_id;

-- case: new_users_of_the_day
-- reads: d_users = Set -1,0
SELECT t.user_id FROM d_users t LEFT ANTI JOIN (SELECT user_id FROM d_users WHERE dt = date_sub(:biz_date, 1)) y ON y.user_id = t.user_id WHERE t.dt = :biz_date;

-- case: retention_of_the_seventh_day
-- reads: d_users = Set -7; d_clicks = Set 0
SELECT count(DISTINCT c.user_id) / count(DISTINCT u.user_id) AS retained FROM d_users u LEFT JOIN d_clicks c ON c.user_id = u.user_id AND c.dt = :biz_date WHERE u.dt = date_sub(:biz_date, 7);

-- case: rolling_window_kept_by_qualify
-- reads: d_orders = Range -6..0
SELECT user_id, amount FROM d_orders WHERE dt > date_sub(:biz_date, 7) AND dt <= :biz_date QUALIFY row_number() OVER (PARTITION BY user_id ORDER BY dt DESC) = 1;

-- case: month_to_date
-- reads: d_orders = to_date month
SELECT sum(amount) AS mtd FROM d_orders WHERE dt BETWEEN trunc(:biz_date, 'MM') AND :biz_date;

-- case: year_to_date
-- reads: d_orders = to_date year
SELECT sum(amount) AS ytd FROM d_orders WHERE dt >= trunc(:biz_date, 'YEAR') AND dt <= :biz_date;

-- case: week_to_date
-- reads: d_orders = to_date week
SELECT sum(amount) AS wtd FROM d_orders WHERE dt BETWEEN trunc(:biz_date, 'WEEK') AND :biz_date;

-- case: previous_month
-- reads: d_orders = all month -1
SELECT sum(amount) AS last_month FROM d_orders WHERE dt >= add_months(trunc(:biz_date, 'MM'), -1) AND dt < trunc(:biz_date, 'MM');

-- case: last_day_of_previous_month
-- reads: d_users = last of month -1
SELECT user_id FROM d_users WHERE dt = last_day(add_months(:biz_date, -1));

-- case: compact_date_text
-- reads: d_orders = Set -1
SELECT user_id FROM d_orders WHERE date_format(dt, 'yyyyMMdd') = date_format(date_sub(:biz_date, 1), 'yyyyMMdd');

-- case: month_text
-- reads: d_orders = all month
SELECT user_id FROM d_orders WHERE date_format(dt, 'yyyy-MM') = date_format(:biz_date, 'yyyy-MM');

-- case: months_text_before
-- reads: d_orders = all month -1
SELECT user_id FROM d_orders WHERE date_format(dt, 'yyyyMM') = date_format(add_months(:biz_date, -1), 'yyyyMM');

-- case: datediff_window
-- reads: d_orders = Range -29..0
SELECT user_id, count(*) AS n FROM d_orders WHERE datediff(:biz_date, dt) BETWEEN 0 AND 29 GROUP BY user_id;

-- case: interval_window
-- reads: d_orders = Range -2..0
SELECT user_id FROM d_orders WHERE dt > :biz_date - INTERVAL 3 DAYS AND dt <= :biz_date;

-- case: sqlmesh_range
-- reads: d_orders = Range -2..0
SELECT user_id FROM d_orders WHERE dt BETWEEN date_sub(:biz_date, 2) AND :biz_date;

-- case: three_levels_of_ctes
-- reads: d_orders = Set -1,0; d_users = Set 0
WITH base AS (SELECT user_id, dt, amount FROM d_orders WHERE dt >= date_sub(:biz_date, 1)), cut AS (SELECT * FROM base WHERE dt <= :biz_date), named AS (SELECT c.*, u.name FROM cut c JOIN d_users u ON u.user_id = c.user_id AND u.dt = :biz_date) SELECT user_id, name, sum(amount) AS amount FROM named GROUP BY user_id, name;

-- case: shifts_of_values
-- reads: d_orders = Set -7,-1,0
SELECT o.user_id, s.n FROM d_orders o JOIN (VALUES (0), (1), (7)) AS s(n) ON o.dt = date_sub(:biz_date, s.n);

-- case: shifts_of_range
-- reads: d_orders = Range -6..0
SELECT o.user_id, r.id FROM d_orders o JOIN range(7) r ON o.dt = date_sub(:biz_date, CAST(r.id AS INT));

-- case: exists_of_yesterday
-- reads: d_orders = Set 0; d_returns = Set -1
SELECT user_id FROM d_orders o WHERE o.dt = :biz_date AND EXISTS (SELECT 1 FROM d_returns r WHERE r.order_id = o.order_id AND r.dt = date_sub(o.dt, 1));

-- case: not_in_last_week
-- reads: d_orders = Set 0; d_returns = Range -6..0
SELECT user_id FROM d_orders WHERE dt = :biz_date AND order_id NOT IN (SELECT order_id FROM d_returns WHERE dt BETWEEN date_sub(:biz_date, 6) AND :biz_date);

-- case: scalar_of_yesterday
-- reads: d_orders = Set 0; d_total = Set -1
SELECT user_id, amount / (SELECT max(total) FROM d_total WHERE dt = date_sub(:biz_date, 1)) AS share FROM d_orders WHERE dt = :biz_date;

-- case: union_of_three_sources
-- reads: d_orders = Set 0; d_clicks = Set 0; d_returns = Set -1
SELECT user_id, 'o' AS kind FROM d_orders WHERE dt = :biz_date UNION ALL SELECT user_id, 'c' FROM d_clicks WHERE dt = :biz_date UNION ALL SELECT user_id, 'r' FROM d_returns WHERE dt = date_sub(:biz_date, 1);

-- case: filter_above_a_union
-- reads: d_orders = Set 0; d_returns = Set 0
SELECT user_id FROM (SELECT dt, user_id FROM d_orders UNION ALL SELECT dt, user_id FROM d_returns) WHERE dt = :biz_date;

-- case: rates_of_the_day_before
-- reads: d_orders = Set 0; d_rates = Set -1
SELECT o.user_id, o.amount * r.rate AS eur FROM d_orders o JOIN d_rates r ON r.currency = o.currency AND date_add(r.dt, 1) = o.dt WHERE o.dt = :biz_date;

-- case: static_dimension
-- reads: d_orders = Set 0; s_regions = static
SELECT r.name, sum(o.amount) AS amount FROM d_orders o JOIN s_regions r ON r.region = o.region WHERE o.dt = :biz_date GROUP BY r.name;

-- case: all_hours_of_the_day
-- reads: h_clicks = all
SELECT user_id, count(*) AS n FROM h_clicks WHERE dt = :biz_date GROUP BY user_id;

-- case: morning_hours
-- reads: h_clicks = Range 6..11
SELECT user_id FROM h_clicks WHERE dt = :biz_date AND hour BETWEEN '06' AND '11';

-- case: hours_of_yesterday
-- reads: h_clicks = all day -1
SELECT user_id FROM h_clicks WHERE dt = date_sub(:biz_date, 1);

-- case: same_hour
-- down: hour
-- reads: h_orders = Set 0
SELECT user_id FROM h_orders WHERE dt = :biz_date AND hour = :biz_hour;

-- case: hours_so_far
-- down: hour
-- reads: h_orders = to_date day
SELECT user_id FROM h_orders WHERE dt = :biz_date AND hour <= :biz_hour;

-- case: day_of_the_hour
-- down: hour
-- reads: h_orders = Set 0; d_users = Set -1
SELECT o.user_id, u.name FROM h_orders o JOIN d_users u ON u.user_id = o.user_id AND u.dt = date_sub(:biz_date, 1) WHERE o.dt = :biz_date AND o.hour = :biz_hour;

-- case: days_of_a_month
-- down: month
-- reads: d_orders = all
SELECT user_id, sum(amount) AS amount FROM d_orders WHERE trunc(dt, 'MM') = :biz_date GROUP BY user_id;

-- case: month_and_the_one_before
-- down: month
-- reads: m_targets = Set -1,0
SELECT * FROM m_targets WHERE dt IN (:biz_date, add_months(:biz_date, -1));

-- case: target_of_the_month
-- reads: d_orders = Set 0; m_targets = Set 0
SELECT o.user_id, t.target FROM d_orders o JOIN m_targets t ON t.dt = trunc(:biz_date, 'MM') WHERE o.dt = :biz_date;

-- case: days_of_a_week
-- down: week
-- reads: d_orders = all
SELECT sum(amount) AS amount FROM d_orders WHERE dt BETWEEN :biz_date AND date_add(:biz_date, 6);

-- case: pivot_of_the_day
-- reads: d_orders = Set 0
SELECT * FROM (SELECT user_id, region, amount FROM d_orders WHERE dt = :biz_date) PIVOT (sum(amount) FOR region IN ('n' AS north, 's' AS south));

-- case: unpivot_then_where
-- reads: d_orders = Set 0
SELECT user_id, quarter, amount FROM d_orders UNPIVOT (amount FOR quarter IN (q1, q2)) WHERE dt = :biz_date;

-- case: grouping_sets_over_dt
-- reads: d_orders = Set 0
SELECT dt, region, sum(amount) AS amount FROM d_orders WHERE dt = :biz_date GROUP BY GROUPING SETS ((dt, region), (dt));

-- case: case_of_dates
-- reads: d_orders = Set -1,0
SELECT CASE WHEN dt = :biz_date THEN 'today' ELSE 'yesterday' END AS day, count(*) AS n FROM d_orders WHERE dt >= date_sub(:biz_date, 1) AND dt <= :biz_date GROUP BY 1;

-- case: coalesce_of_join_dates
-- reads: d_orders = Set 0; d_returns = Set 0
SELECT coalesce(o.dt, r.dt) AS day, count(*) AS n FROM (SELECT dt, id FROM d_orders WHERE dt = :biz_date) o FULL JOIN (SELECT dt, id FROM d_returns WHERE dt = :biz_date) r ON r.id = o.id GROUP BY 1;

-- case: year_before_by_months
-- reads: d_orders = date -1,0 year
SELECT user_id FROM d_orders WHERE dt = :biz_date OR dt = add_months(:biz_date, -12);

-- case: first_of_the_month
-- reads: d_users = first of month
SELECT user_id FROM d_users WHERE dt = trunc(:biz_date, 'month');

-- case: everything_until_now
-- reads: d_orders = since start
SELECT user_id, sum(amount) AS ever FROM d_orders WHERE dt <= :biz_date GROUP BY user_id;

-- case: newest_by_max
-- reads: d_rates = undecidable
SELECT currency, rate FROM d_rates WHERE dt = (SELECT max(dt) FROM d_rates);

-- case: startswith_month
-- reads: d_orders = all month
SELECT user_id FROM d_orders WHERE startswith(CAST(dt AS STRING), date_format(:biz_date, 'yyyy-MM'));

-- case: struct_of_constants
-- reads: d_orders = Set -1
SELECT o.user_id FROM d_orders o CROSS JOIN (SELECT date_sub(:biz_date, 1) AS d) p WHERE o.dt = p.d;

-- case: parameters_in_a_cte
-- reads: d_orders = Range -6..0
WITH p AS (SELECT date_sub(:biz_date, 6) AS low, :biz_date AS high) SELECT o.user_id FROM d_orders o JOIN p ON o.dt BETWEEN p.low AND p.high;

-- case: spine_of_days
-- reads: d_orders = Range -6..0
SELECT s.day, count(o.user_id) AS n FROM (SELECT explode(sequence(date_sub(:biz_date, 6), :biz_date)) AS day) s LEFT JOIN d_orders o ON o.dt = s.day GROUP BY s.day;

-- case: view_of_paid_orders
-- reads: d_orders = Set 0; d_users = Set 0
SELECT user_id FROM v_paid WHERE dt = :biz_date;

-- case: self_join_over_a_fortnight
-- reads: d_clicks = Range -14..0
SELECT a.user_id FROM d_clicks a JOIN d_clicks b ON b.user_id = a.user_id AND b.dt BETWEEN date_sub(a.dt, 14) AND date_sub(a.dt, 1) WHERE a.dt = :biz_date;

-- case: having_over_days
-- reads: d_clicks = Range -2..0
SELECT user_id FROM d_clicks WHERE dt BETWEEN date_sub(:biz_date, 2) AND :biz_date GROUP BY user_id HAVING count(DISTINCT dt) = 3;

-- case: three_consecutive_days
-- reads: d_clicks = Range -2..0
SELECT a.user_id FROM d_clicks a JOIN d_clicks b ON b.user_id = a.user_id AND b.dt = date_sub(a.dt, 1) JOIN d_clicks c ON c.user_id = a.user_id AND c.dt = date_sub(a.dt, 2) WHERE a.dt = :biz_date;

-- case: semi_join_of_stores
-- reads: d_orders = Set 0; d_stores = Set 0
SELECT user_id FROM d_orders o LEFT SEMI JOIN d_stores s ON s.store_id = o.store_id AND s.dt = o.dt WHERE o.dt = :biz_date;

-- case: brackets_and_not
-- reads: d_orders = Set 0
SELECT user_id FROM d_orders WHERE NOT (dt < :biz_date OR dt > :biz_date);

-- case: cast_of_a_text_date
-- reads: d_orders = Set -1
SELECT user_id FROM d_orders WHERE CAST(dt AS STRING) = CAST(date_sub(:biz_date, 1) AS STRING);

-- case: comment_before_the_filter
-- reads: d_orders = Set 0
SELECT user_id -- all users; of the day
FROM d_orders /* dt = date_sub(:biz_date, 1) */ WHERE dt = :biz_date;

-- case: pipe_of_a_table
-- reads: d_orders = Set 0
FROM d_orders |> WHERE dt = :biz_date |> AGGREGATE sum(amount) AS amount GROUP BY user_id;

-- case: five_minutes_of_an_hour
-- down: hour
-- reads: e_events = all
SELECT count(*) AS n FROM e_events WHERE dt = :biz_date AND hour = :biz_hour;

-- case: weeks_before
-- down: week
-- reads: w_sales = Set -4,-1
SELECT * FROM w_sales WHERE dt IN (date_sub(:biz_date, 7), date_sub(:biz_date, 28));

-- case: weekly_table_of_the_day
-- reads: w_sales = Set 0; d_orders = Set 0
SELECT o.user_id, w.amount FROM d_orders o JOIN w_sales w ON w.dt = trunc(o.dt, 'week') WHERE o.dt = :biz_date;

-- case: full_join_using_dt
-- reads: d_orders = Set 0; d_returns = Set 0
SELECT dt, coalesce(o.n, 0) AS orders, coalesce(r.n, 0) AS returns FROM (SELECT dt, count(*) AS n FROM d_orders GROUP BY dt) o FULL JOIN (SELECT dt, count(*) AS n FROM d_returns GROUP BY dt) r USING (dt) WHERE dt = :biz_date;

-- case: full_join_using_two_columns
-- reads: d_orders = Set -1,0; d_returns = Set -1,0
SELECT user_id, dt FROM d_orders o FULL JOIN d_returns r USING (user_id, dt) WHERE dt BETWEEN date_sub(:biz_date, 1) AND :biz_date;

-- case: named_shifts_of_values
-- reads: d_orders = Set -7,-1,0
SELECT s.name, sum(o.amount) AS amount FROM d_orders o JOIN (VALUES (0, 'today'), (1, 'yesterday'), (7, 'week')) AS s(n, name) ON o.dt = date_sub(:biz_date, s.n) GROUP BY s.name;

-- case: field_of_a_made_struct
-- reads: d_orders = Set 0
SELECT s.day, s.amount FROM (SELECT struct(dt AS day, amount) AS s FROM d_orders) WHERE s.day = :biz_date;

-- case: field_of_a_named_struct
-- reads: d_orders = Set -1
WITH o AS (SELECT named_struct('dt', dt, 'id', order_id) AS k, amount FROM d_orders) SELECT o.k.id, amount FROM o WHERE o.k.dt = date_sub(:biz_date, 1);

-- case: star_of_a_made_struct
-- reads: d_orders = Range -2..0
SELECT user_id FROM (SELECT r.* FROM (SELECT struct(dt, user_id) AS r FROM d_orders)) WHERE dt BETWEEN date_sub(:biz_date, 2) AND :biz_date;

-- case: struct_within_a_struct
-- reads: d_users = Set 0
SELECT r.key.user_id FROM (SELECT struct(struct(dt, user_id) AS key, name) AS r FROM d_users) WHERE r.key.dt = :biz_date;

-- case: newest_order_by_max_of_a_struct
-- reads: d_orders = Range -6..0
SELECT user_id, max(struct(dt, amount)).amount AS last_amount FROM d_orders WHERE dt BETWEEN date_sub(:biz_date, 6) AND :biz_date GROUP BY user_id;

-- case: full_join_of_two_days_on_coalesce
-- reads: d_orders = Set 0; d_returns = Set 0
SELECT coalesce(o.dt, r.dt) AS dt, o.amount, r.amount AS back FROM d_orders o FULL OUTER JOIN d_returns r ON o.dt = r.dt AND o.order_id = r.order_id WHERE coalesce(o.dt, r.dt) = :biz_date;

-- case: full_join_of_a_week_on_nvl
-- reads: d_orders = Range -6..0; d_returns = Range -6..0
SELECT nvl(o.user_id, r.user_id) AS user_id FROM d_orders o FULL JOIN d_returns r ON r.dt = o.dt AND r.user_id = o.user_id WHERE nvl(o.dt, r.dt) >= date_sub(:biz_date, 6) AND nvl(o.dt, r.dt) <= :biz_date;

-- case: three_facts_by_full_joins
-- reads: d_orders = Set 0; d_clicks = Set 0; d_returns = Set 0
SELECT coalesce(o.user_id, c.user_id, r.user_id) AS user_id FROM d_orders o FULL JOIN d_clicks c ON c.dt = o.dt AND c.user_id = o.user_id FULL JOIN d_returns r ON r.dt = coalesce(o.dt, c.dt) AND r.user_id = coalesce(o.user_id, c.user_id) WHERE coalesce(o.dt, c.dt, r.dt) = :biz_date;

-- case: three_facts_by_using
-- reads: d_orders = Set -1; d_clicks = Set -1; d_returns = Set -1
SELECT dt, user_id, o.n, c.n AS clicks, r.n AS back FROM (SELECT dt, user_id, count(*) AS n FROM d_orders GROUP BY dt, user_id) o FULL JOIN (SELECT dt, user_id, count(*) AS n FROM d_clicks GROUP BY dt, user_id) c USING (dt, user_id) FULL JOIN (SELECT dt, user_id, count(*) AS n FROM d_returns GROUP BY dt, user_id) r USING (dt, user_id) WHERE dt = date_sub(:biz_date, 1);

-- case: full_join_within_a_cte
-- reads: d_orders = Set 0; d_returns = Set 0; d_users = Set 0
WITH merged AS (SELECT coalesce(o.dt, r.dt) AS dt, coalesce(o.user_id, r.user_id) AS user_id FROM d_orders o FULL JOIN d_returns r ON o.dt = r.dt AND o.user_id = r.user_id) SELECT m.user_id, u.name FROM merged m LEFT JOIN d_users u ON u.user_id = m.user_id AND u.dt = m.dt WHERE m.dt = :biz_date;

-- case: full_join_that_keeps_all_days
-- reads: d_orders = undecidable; d_returns = undecidable
SELECT coalesce(o.dt, r.dt) AS dt FROM d_orders o FULL JOIN d_returns r ON o.order_id = r.order_id WHERE coalesce(o.dt, r.dt) = :biz_date;

-- case: ordered_rows_of_the_day
-- reads: d_orders = Set 0
SELECT user_id, sum(amount) AS total FROM d_orders WHERE dt = :biz_date GROUP BY user_id ORDER BY total DESC, user_id LIMIT 100;

-- case: ordered_by_what_is_not_listed
-- reads: d_orders = Set 0
SELECT user_id FROM d_orders o WHERE o.dt = :biz_date ORDER BY o.amount DESC;

-- case: distributed_and_sorted
-- reads: d_orders = Set 0
SELECT user_id, amount FROM d_orders WHERE dt = :biz_date DISTRIBUTE BY user_id SORT BY amount DESC;

-- case: newest_row_by_row_number
-- reads: d_users = Range -29..0
SELECT user_id, name FROM (SELECT *, row_number() OVER (PARTITION BY user_id ORDER BY dt DESC) AS rn FROM d_users WHERE dt BETWEEN date_sub(:biz_date, 29) AND :biz_date) WHERE rn = 1;

-- case: lag_over_two_days
-- reads: d_total = Set -1,0
SELECT dt, total - lag(total) OVER (ORDER BY dt) AS diff FROM d_total WHERE dt IN (:biz_date, date_sub(:biz_date, 1));

-- case: moving_average_of_a_week
-- reads: d_total = Range -6..0
SELECT avg(total) OVER (ORDER BY dt ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS moving FROM d_total WHERE dt > date_sub(:biz_date, 7) AND dt <= :biz_date;

-- case: window_filtered_above_its_partition
-- reads: d_orders = Set 0
SELECT user_id FROM (SELECT dt, user_id, rank() OVER (PARTITION BY dt ORDER BY amount DESC) AS place FROM d_orders) WHERE dt = :biz_date AND place <= 10;

-- case: cumulative_users
-- reads: d_users = since start
SELECT count(DISTINCT user_id) AS ever FROM d_users WHERE dt <= :biz_date;

-- case: incremental_merge_of_yesterday
-- reads: d_users = Set -1; d_orders = Set 0
SELECT user_id, max(seen) AS seen FROM (SELECT user_id, seen FROM d_users WHERE dt = date_sub(:biz_date, 1) UNION ALL SELECT user_id, dt AS seen FROM d_orders WHERE dt = :biz_date) GROUP BY user_id;

-- case: left_join_of_yesterday_by_the_row
-- reads: d_total = Set -1,0
SELECT t.total, y.total AS before FROM d_total t LEFT JOIN d_total y ON y.dt = t.dt - INTERVAL 1 DAY WHERE t.dt = :biz_date;

-- case: same_day_last_week_and_year
-- reads: d_total = date -1 year and Set -7,0
SELECT dt, total FROM d_total WHERE dt = :biz_date OR dt = date_sub(:biz_date, 7) OR dt = add_months(:biz_date, -12);

-- case: quarter_to_date
-- reads: d_orders = to_date quarter
SELECT sum(amount) AS qtd FROM d_orders WHERE dt >= date_trunc('QUARTER', :biz_date) AND dt <= :biz_date;

-- case: whole_quarter_before
-- reads: d_orders = all quarter -1
SELECT sum(amount) AS quarter FROM d_orders WHERE dt >= add_months(trunc(:biz_date, 'QUARTER'), -3) AND dt < trunc(:biz_date, 'QUARTER');

-- case: calendar_month_by_parts
-- reads: d_orders = all month
SELECT sum(amount) AS amount FROM d_orders WHERE year(dt) = year(:biz_date) AND month(dt) = month(:biz_date);

-- case: until_the_end_of_the_month
-- reads: d_calendar = all month
SELECT dt, is_holiday FROM d_calendar WHERE dt BETWEEN trunc(:biz_date, 'MM') AND last_day(:biz_date);

-- case: tomorrow_in_the_calendar
-- reads: d_calendar = Set 1; d_orders = Set 0
SELECT o.user_id, c.is_holiday FROM d_orders o CROSS JOIN d_calendar c WHERE o.dt = :biz_date AND c.dt = date_add(:biz_date, 1);

-- case: monday_of_the_week
-- reads: d_stores = first of week
SELECT store_id FROM d_stores WHERE dt = date_trunc('WEEK', :biz_date);

-- case: week_before
-- reads: d_orders = all week -1
SELECT sum(amount) AS amount FROM d_orders WHERE dt >= date_sub(trunc(:biz_date, 'WEEK'), 7) AND dt < trunc(:biz_date, 'WEEK');

-- case: airflow_interval_of_the_day
-- reads: h_clicks = all
SELECT count(*) AS n FROM h_clicks WHERE dt >= to_date(:period_start) AND dt < to_date(:period_end);

-- case: evening_hours_by_text
-- reads: h_orders = Range 18..23
SELECT user_id FROM h_orders WHERE dt = :biz_date AND substring(hour, 1, 2) >= '18';

-- case: noon_of_each_day
-- reads: h_clicks = Set 12
SELECT count(*) AS n FROM h_clicks WHERE dt = :biz_date AND hour = '12';

-- case: hours_by_a_list
-- reads: h_clicks = Set 8,9,20
SELECT count(*) AS n FROM h_clicks WHERE dt = :biz_date AND hour IN ('08', '09', '20');

-- case: hours_since_yesterday
-- reads: h_clicks = all day -1,0
SELECT count(*) AS n FROM h_clicks WHERE dt BETWEEN date_sub(:biz_date, 1) AND :biz_date;

-- case: hour_before
-- down: hour
-- reads: h_orders = Set 0; d_users = Set 0
SELECT o.user_id, u.name FROM h_orders o JOIN d_users u ON u.user_id = o.user_id AND u.dt = o.dt WHERE o.dt = :biz_date AND o.hour = :biz_hour;

-- case: month_of_a_year_of_targets
-- down: year
-- reads: m_targets = all
SELECT sum(target) AS target FROM m_targets WHERE year(dt) = year(:biz_date);

-- case: days_of_the_quarter
-- down: quarter
-- reads: d_orders = all
SELECT sum(amount) AS amount FROM d_orders WHERE dt >= :biz_date AND dt < add_months(:biz_date, 3);

-- case: week_and_the_same_week_last_year
-- down: week
-- reads: w_sales = Set -52,0
SELECT dt, amount FROM w_sales WHERE dt IN (:biz_date, date_sub(:biz_date, 364));

-- case: twelve_months_of_targets
-- down: month
-- reads: m_targets = Range -11..0
SELECT avg(target) AS target FROM m_targets WHERE dt > add_months(:biz_date, -12) AND dt <= :biz_date;

-- case: three_step_funnel
-- reads: d_clicks = Set -1,0; d_orders = Set 0
SELECT count(DISTINCT c.user_id) AS seen, count(DISTINCT o.user_id) AS bought FROM d_clicks c LEFT JOIN d_orders o ON o.user_id = c.user_id AND o.dt = :biz_date WHERE c.dt BETWEEN date_sub(:biz_date, 1) AND :biz_date;

-- case: cohort_of_thirty_days
-- reads: d_users = Set -30; d_clicks = Range -30..0
SELECT c.dt, count(DISTINCT c.user_id) AS kept FROM d_users u JOIN d_clicks c ON c.user_id = u.user_id AND c.dt BETWEEN u.dt AND date_add(u.dt, 30) WHERE u.dt = date_sub(:biz_date, 30) GROUP BY c.dt;

-- case: sessions_that_pass_midnight
-- reads: d_clicks = Set -1,0
SELECT user_id, min(at) AS begun FROM d_clicks WHERE dt >= :biz_date - INTERVAL '1' DAY AND dt <= :biz_date GROUP BY user_id, session_id HAVING max(dt) = :biz_date;

-- case: orders_without_returns_for_a_week
-- reads: d_orders = Set -7; d_returns = Range -7..0
SELECT o.order_id FROM d_orders o LEFT ANTI JOIN d_returns r ON r.order_id = o.order_id AND r.dt BETWEEN o.dt AND date_add(o.dt, 7) WHERE o.dt = date_sub(:biz_date, 7);

-- case: rate_of_the_day_or_the_one_before
-- reads: d_orders = Set 0; d_rates = Set -1,0
SELECT o.user_id, coalesce(t.rate, y.rate) AS rate FROM d_orders o LEFT JOIN d_rates t ON t.currency = o.currency AND t.dt = o.dt LEFT JOIN d_rates y ON y.currency = o.currency AND y.dt = date_sub(o.dt, 1) WHERE o.dt = :biz_date;

-- case: dimension_valid_on_the_day
-- reads: d_orders = Set 0; d_stores = Set 0
SELECT o.order_id, s.city FROM d_orders o JOIN d_stores s ON s.store_id = o.store_id AND s.dt = :biz_date AND o.at BETWEEN s.valid_from AND s.valid_to WHERE o.dt = :biz_date;

-- case: changed_rows_by_hash
-- reads: d_users = Set -1,0
SELECT t.user_id FROM d_users t JOIN d_users y ON y.user_id = t.user_id WHERE t.dt = :biz_date AND y.dt = date_sub(:biz_date, 1) AND sha2(concat_ws('|', t.name, t.city), 256) <> sha2(concat_ws('|', y.name, y.city), 256);

-- case: deleted_rows_by_except
-- reads: d_users = Set -1,0
SELECT user_id FROM d_users WHERE dt = date_sub(:biz_date, 1) EXCEPT SELECT user_id FROM d_users WHERE dt = :biz_date;

-- case: users_of_both_days
-- reads: d_users = Set -1,0
SELECT user_id FROM d_users WHERE dt = :biz_date INTERSECT SELECT user_id FROM d_users WHERE dt = date_sub(:biz_date, 1);

-- case: in_brackets_and_ordered
-- reads: d_users = Set 0; d_orders = Set 0
(SELECT user_id FROM d_users WHERE dt = :biz_date) UNION (SELECT user_id FROM d_orders WHERE dt = :biz_date) ORDER BY user_id;

-- case: exploded_days_of_a_subscription
-- reads: d_orders = Set 0
SELECT user_id, day FROM (SELECT user_id, explode(sequence(begun, ended)) AS day FROM d_orders WHERE dt = :biz_date) WHERE day <= :biz_date;

-- case: exploded_map_of_the_day
-- reads: d_orders = Set 0
SELECT key, sum(value) AS n FROM (SELECT dt, explode(props) FROM d_orders) WHERE dt = :biz_date GROUP BY key;

-- case: positions_of_an_array
-- reads: d_orders = Set -1
SELECT order_id, pos, item FROM d_orders LATERAL VIEW OUTER posexplode(items) t AS pos, item WHERE dt = date_sub(:biz_date, 1);

-- case: stacked_measures
-- reads: d_orders = Set 0
SELECT name, sum(value) AS value FROM (SELECT dt, stack(2, 'amount', amount, 'tax', tax) AS (name, value) FROM d_orders) WHERE dt = :biz_date GROUP BY name;

-- case: lateral_query_of_the_row
-- reads: d_orders = Set 0
SELECT o.order_id, i.price FROM d_orders o, LATERAL (SELECT sum(x.price) AS price FROM (SELECT explode(o.items) AS x)) i WHERE o.dt = :biz_date;

-- case: aggregate_over_an_array
-- reads: d_orders = Set 0
SELECT order_id, aggregate(transform(items, i -> i.price), 0, (sum, x) -> sum + x) AS total FROM d_orders WHERE dt = :biz_date;

-- case: json_field_by_colon_path
-- reads: d_clicks = Set 0
SELECT get_json_object(js, '$.user.id') AS user_id, from_json(js, 'a INT').a AS a FROM d_clicks WHERE dt = :biz_date;

-- case: json_of_two_levels
-- reads: d_clicks = Set -1,0
WITH p AS (SELECT dt, from_json(js, 'kind STRING, place STRUCT<city: STRING>') AS e FROM d_clicks) SELECT e.place.city, count(*) AS n FROM p WHERE dt >= date_sub(:biz_date, 1) AND dt <= :biz_date GROUP BY e.place.city;

-- case: unpivot_of_two_pairs
-- reads: d_orders = Set 0
SELECT user_id, part, net, tax FROM d_orders UNPIVOT ((net, tax) FOR part IN ((n1, t1) AS a, (n2, t2) AS b)) WHERE dt = :biz_date;

-- case: rollup_of_the_day
-- reads: d_orders = Set 0
SELECT region, city, sum(amount) AS amount FROM d_orders WHERE dt = :biz_date GROUP BY ROLLUP (region, city);

-- case: grouping_sets_filtered_above
-- reads: d_orders = Set 0
SELECT * FROM (SELECT dt, region, sum(amount) AS amount FROM d_orders GROUP BY dt, region GROUPING SETS ((dt, region), (dt))) WHERE dt = :biz_date;

-- case: filtered_aggregates
-- reads: d_orders = Set -1,0
SELECT sum(amount) FILTER (WHERE dt = :biz_date) AS today, sum(amount) FILTER (WHERE dt = date_sub(:biz_date, 1)) AS before FROM d_orders WHERE dt BETWEEN date_sub(:biz_date, 1) AND :biz_date;

-- case: shift_inside_a_case
-- reads: d_orders = Set -7,-1,0
SELECT o.user_id, s.n FROM d_orders o JOIN (VALUES (0), (1), (7)) s(n) ON o.dt = CASE WHEN s.n = 0 THEN :biz_date ELSE date_sub(:biz_date, s.n) END;

-- case: shift_chosen_by_the_weekday
-- reads: d_rates = undecidable
SELECT rate FROM d_rates WHERE dt = CASE WHEN dayofweek(:biz_date) = 2 THEN date_sub(:biz_date, 3) ELSE date_sub(:biz_date, 1) END;

-- case: spine_of_a_month
-- reads: d_total = to_date month
SELECT s.day, t.total FROM (SELECT explode(sequence(trunc(:biz_date, 'MM'), :biz_date)) AS day) s LEFT JOIN d_total t ON t.dt = s.day;

-- case: spine_by_range
-- reads: d_total = Range -13..0
SELECT date_sub(:biz_date, CAST(r.id AS INT)) AS day, t.total FROM range(14) r LEFT JOIN d_total t ON t.dt = date_sub(:biz_date, CAST(r.id AS INT));

-- case: compact_text_of_a_range
-- reads: d_orders = Range -2..0
SELECT user_id FROM d_orders WHERE date_format(dt, 'yyyyMMdd') BETWEEN date_format(date_sub(:biz_date, 2), 'yyyyMMdd') AND date_format(:biz_date, 'yyyyMMdd');

-- case: text_of_the_date_by_replace
-- reads: d_orders = Set 0
SELECT user_id FROM d_orders WHERE replace(CAST(dt AS STRING), '-', '') = date_format(:biz_date, 'yyyyMMdd');

-- case: date_of_a_text_constant
-- reads: d_orders = since 2026-01-01
SELECT user_id FROM d_orders WHERE dt >= DATE '2026-01-01' AND dt <= :biz_date;

-- case: unix_days
-- reads: d_orders = Set -1
SELECT user_id FROM d_orders WHERE unix_date(dt) = unix_date(:biz_date) - 1;

-- case: pipe_with_a_join_and_an_order
-- reads: d_orders = Set 0; d_users = Set 0
FROM d_orders o |> JOIN d_users u ON u.user_id = o.user_id AND u.dt = o.dt |> WHERE o.dt = :biz_date |> SELECT o.user_id, u.name |> ORDER BY user_id;

-- case: pipe_that_extends_and_sums
-- reads: d_orders = Set -1
FROM d_orders |> WHERE dt = date_sub(:biz_date, 1) |> EXTEND amount / 100 AS eur |> AGGREGATE sum(eur) AS eur GROUP BY user_id;

-- case: recursive_tree_of_the_day
-- reads: d_stores = Set 0
WITH RECURSIVE tree AS (SELECT store_id, parent_id, 1 AS depth FROM d_stores WHERE dt = :biz_date AND parent_id IS NULL UNION ALL SELECT s.store_id, s.parent_id, t.depth + 1 FROM d_stores s JOIN tree t ON t.store_id = s.parent_id WHERE s.dt = :biz_date) SELECT store_id, depth FROM tree;

-- case: view_beside_its_table
-- reads: d_orders = Set -1,0; d_users = Set 0
SELECT p.user_id FROM v_paid p LEFT ANTI JOIN d_orders o ON o.user_id = p.user_id AND o.dt = date_sub(p.dt, 1) WHERE p.dt = :biz_date;

-- case: cte_that_is_read_twice
-- reads: d_total = Set -1,0
WITH t AS (SELECT dt, total FROM d_total) SELECT a.total - b.total AS diff FROM t a JOIN t b ON b.dt = date_sub(a.dt, 1) WHERE a.dt = :biz_date;

-- case: sampled_rows
-- reads: d_clicks = Set 0
SELECT * FROM (SELECT user_id FROM d_clicks WHERE dt = :biz_date) TABLESAMPLE (10 PERCENT);

-- case: limit_below_the_filter
-- reads: d_clicks = undecidable
SELECT user_id FROM (SELECT dt, user_id FROM d_clicks LIMIT 1000) WHERE dt = :biz_date;

-- case: null_safe_equal_days
-- reads: d_orders = Set 0
SELECT user_id FROM d_orders WHERE dt <=> :biz_date;

-- case: between_symmetric_bounds_of_a_cte
-- reads: d_orders = Range -3..-1
WITH b AS (SELECT date_sub(:biz_date, 3) AS low, date_sub(:biz_date, 1) AS high) SELECT user_id FROM d_orders, b WHERE dt BETWEEN low AND high;

-- case: greatest_of_start_and_week
-- reads: d_orders = Range -6..0
SELECT user_id FROM d_orders WHERE dt >= greatest(date_sub(:biz_date, 6), DATE '2020-01-01') AND dt <= :biz_date;

-- case: year_as_a_part_of_the_date
-- reads: d_orders = all year
SELECT * FROM d_orders WHERE split_part(dt, '-', 1) = date_format(:biz_date, 'yyyy');

-- case: year_and_month_as_parts_of_the_date
-- reads: d_orders = all month
SELECT * FROM d_orders WHERE split_part(dt, '-', 1) = date_format(:biz_date, 'yyyy') AND split_part(dt, '-', 2) = date_format(:biz_date, 'MM');

-- case: year_and_month_of_a_split
-- reads: d_orders = all month
SELECT * FROM d_orders WHERE split(dt, '-')[0] = date_format(:biz_date, 'yyyy') AND split(dt, '-')[1] = date_format(:biz_date, 'MM');

-- case: month_by_substring_index
-- reads: d_orders = all month
SELECT * FROM d_orders WHERE substring_index(dt, '-', 2) = date_format(:biz_date, 'yyyy-MM');

-- case: year_as_a_number_in_the_text
-- reads: d_orders = all year
SELECT * FROM d_orders WHERE cast(split_part(dt, '-', 1) AS INT) = year(:biz_date);

-- case: month_by_its_beginning
-- reads: d_orders = all month
SELECT * FROM d_orders WHERE startswith(dt, date_format(:biz_date, 'yyyy-MM'));

-- case: week_as_numbers_without_hyphens
-- reads: d_orders = Range -6..0
SELECT * FROM d_orders WHERE cast(replace(dt, '-', '') AS INT) BETWEEN cast(date_format(date_sub(:biz_date, 6), 'yyyyMMdd') AS INT) AND cast(date_format(:biz_date, 'yyyyMMdd') AS INT);

-- case: day_without_hyphens_by_a_pattern
-- reads: d_orders = Set 0
SELECT * FROM d_orders WHERE int(regexp_replace(dt, '-', '')) = int(date_format(:biz_date, 'yyyyMMdd'));

-- case: day_by_its_place_in_a_list
-- reads: d_orders = Set -7
SELECT * FROM d_orders WHERE dt = date_sub(:biz_date, elt(2, 1, 7, 30));

-- case: one_day_for_each_month_end
-- reads: d_orders = last of month -1,0
SELECT * FROM d_orders WHERE dt IN (last_day(:biz_date), last_day(add_months(:biz_date, -1)));

-- case: listed_shifts
-- reads: d_orders = Set -7,-1,0
SELECT v.n, count(*) AS orders FROM d_orders a JOIN (VALUES (0), (1), (7)) v(n) ON a.dt = date_sub(:biz_date, v.n) GROUP BY v.n;

-- case: some_of_the_listed_shifts
-- reads: d_orders = Set -1,0
SELECT * FROM d_orders a JOIN (VALUES (0), (1), (7)) v(n) ON a.dt = date_sub(:biz_date, v.n) WHERE v.n < 5;

-- case: listed_shifts_of_a_kind
-- reads: d_orders = Set -7,-1
SELECT * FROM d_orders a JOIN (VALUES (0, 'x'), (1, 'y'), (7, 'y')) v(n, k) ON a.dt = date_sub(:biz_date, v.n) WHERE v.k = 'y';

-- case: listed_shifts_of_a_kind_in_a_query
-- reads: d_orders = Set -7,-1
SELECT * FROM d_orders a JOIN (SELECT n FROM (VALUES (0, 'x'), (1, 'y'), (7, 'y')) v(n, k) WHERE k = 'y') w ON a.dt = date_sub(:biz_date, w.n);

-- case: listed_shifts_of_a_cte
-- reads: d_orders = Set 0
WITH v AS (SELECT * FROM VALUES (0, 'x'), (1, 'y'), (7, 'y') AS t(n, k)) SELECT * FROM d_orders a, v WHERE a.dt = date_sub(:biz_date, v.n) AND k <> 'y';

-- case: two_lists_of_shifts
-- reads: d_orders = Set 0
SELECT * FROM d_orders a JOIN (VALUES (0, 'x'), (1, 'y')) v(n, k) ON a.dt = date_sub(:biz_date, v.n) JOIN (VALUES ('x', 1), ('y', 0)) w(k, is_on) ON w.k = v.k WHERE w.is_on = 1;

-- case: listed_shifts_of_two_tables
-- reads: d_orders = Set -7,0; d_users = Set -8,-1
SELECT * FROM d_orders a JOIN d_users b ON b.user_id = a.user_id JOIN (VALUES (0, 1), (7, 8)) v(n, m) ON a.dt = date_sub(:biz_date, v.n) AND b.dt = date_sub(:biz_date, v.m);

-- case: listed_windows
-- reads: d_orders = Set -4,-3,-2,0
SELECT v.name, sum(a.amount) AS amount FROM d_orders a JOIN (VALUES ('today', 0, 0), ('before', 2, 4)) v(name, l, f) ON a.dt BETWEEN date_sub(:biz_date, v.f) AND date_sub(:biz_date, v.l) GROUP BY v.name;

-- case: listed_shifts_without_a_null
-- reads: d_orders = Set -7,-1
SELECT * FROM d_orders a JOIN (VALUES ('d1', 1), ('d7', 7), (NULL, 30)) v(k, n) ON a.dt = date_sub(:biz_date, v.n) AND v.k IS NOT NULL;

-- case: numbers_of_a_range_without_one
-- reads: d_orders = Set -3,-1
SELECT * FROM d_orders a JOIN range(1, 4) r ON a.dt = date_sub(:biz_date, cast(r.id AS int)) WHERE r.id <> 2;

-- case: every_second_number_of_a_sequence
-- reads: d_orders = Set -6,-4,-2,0
SELECT * FROM d_orders a JOIN (SELECT explode(sequence(0, 6)) AS n) r ON a.dt = date_sub(:biz_date, r.n) WHERE r.n % 2 = 0;

-- case: days_in_a_query_of_a_list
-- reads: d_orders = Set -7,-1
SELECT * FROM d_orders a WHERE a.dt IN (SELECT date_sub(:biz_date, n) FROM VALUES (0, 'x'), (1, 'y'), (7, 'y') v(n, k) WHERE k = 'y');

-- case: days_that_exist_in_a_list
-- reads: d_orders = Set -7,-1
SELECT * FROM d_orders a WHERE EXISTS (SELECT 1 FROM VALUES (0, 'x'), (1, 'y'), (7, 'y') v(n, k) WHERE a.dt = date_sub(:biz_date, v.n) AND v.k = 'y');

-- case: no_day_of_a_list_without_rows
-- reads: d_orders = Range -9..0
SELECT * FROM d_orders a WHERE a.dt BETWEEN date_sub(:biz_date, 9) AND :biz_date AND a.dt NOT IN (SELECT date_sub(:biz_date, n) FROM VALUES (0, 'x') v(n, k) WHERE k = 'z');

-- case: a_day_or_one_of_a_list_without_rows
-- reads: d_orders = Set -3
SELECT * FROM d_orders a WHERE a.dt = date_sub(:biz_date, 3) OR a.dt IN (SELECT date_sub(:biz_date, n) FROM VALUES (0, 'x') v(n, k) WHERE k = 'z');

-- case: listed_shifts_by_case
-- reads: d_orders = Set -7,-1,0
SELECT * FROM d_orders a JOIN (VALUES ('today'), ('yesterday'), ('week')) v(k) ON a.dt = CASE v.k WHEN 'today' THEN :biz_date WHEN 'yesterday' THEN date_sub(:biz_date, 1) ELSE date_sub(:biz_date, 7) END;

-- case: hours_of_a_list
-- reads: h_clicks = Set 0,12
SELECT * FROM h_clicks a JOIN (VALUES ('00'), ('12')) v(h) ON a.dt = :biz_date AND a.hour = v.h;

-- case: full_join_using_the_date
-- reads: d_orders = Set 0; d_users = Set 0
SELECT dt, o.amount, u.status FROM d_orders o FULL JOIN d_users u USING (dt) WHERE dt = :biz_date;

-- case: grouping_sets_above_the_date
-- reads: d_orders = Set 0
SELECT * FROM (SELECT dt, status, sum(amount) AS amount FROM d_orders GROUP BY GROUPING SETS ((dt, status), (dt))) WHERE dt = :biz_date;

-- case: field_of_a_struct_with_the_date
-- reads: d_orders = Set -1
WITH x AS (SELECT named_struct('k', struct(dt AS d, user_id), 'n', amount) AS s FROM d_orders) SELECT s.n FROM x WHERE s.k.d = date_sub(:biz_date, 1);

-- case: this_week_by_its_year
-- reads: d_orders = all week
SELECT * FROM d_orders WHERE extract(yearofweek FROM dt) = extract(yearofweek FROM :biz_date) AND extract(week FROM dt) = extract(week FROM :biz_date);

-- case: shift_by_one_of_two_intervals
-- reads: d_orders = Set -7,-1
SELECT * FROM d_orders a WHERE a.dt = :biz_date - CASE WHEN a.amount > 1 THEN INTERVAL 1 DAY ELSE INTERVAL 7 DAY END;

-- case: shift_by_one_of_two_numbers_of_days
-- reads: d_orders = Set -7,-1
SELECT * FROM d_orders a WHERE a.dt = :biz_date - if(a.amount > 1, 1, 7) * INTERVAL 1 DAY;

-- case: shift_by_a_made_interval
-- reads: d_orders = Set -7,-1
SELECT * FROM d_orders a WHERE a.dt = :biz_date - make_interval(0, 0, 0, if(a.amount > 1, 1, 7));

-- case: listed_intervals
-- reads: d_orders = Set -7,-1
SELECT * FROM d_orders a JOIN (VALUES (INTERVAL 1 DAY), (INTERVAL 7 DAY)) v(i) ON a.dt = :biz_date - v.i;

-- case: listed_days
-- reads: d_orders = Set -7,0
SELECT * FROM d_orders a JOIN (VALUES (:biz_date), (date_sub(:biz_date, 7))) v(d) ON a.dt = v.d;

-- case: one_of_the_listed_days
-- reads: d_orders = date -1 year
SELECT * FROM d_orders a JOIN (VALUES ('now', :biz_date), ('last year', add_months(:biz_date, -12))) v(k, d) ON a.dt = v.d WHERE v.k <> 'now';

-- case: listed_ends
-- reads: d_orders = to_date month
SELECT * FROM d_orders a JOIN (VALUES (to_date(date_trunc('MONTH', :biz_date)), :biz_date)) v(f, t) ON a.dt BETWEEN v.f AND v.t;

-- case: every_second_number_of_a_range
-- reads: d_orders = Set -8,-6,-4,-2,0
SELECT * FROM d_orders a, range(0, 10, 2) r WHERE a.dt = date_sub(:biz_date, int(r.id));

-- case: pivot_then_where
-- reads: d_orders = Set 0
SELECT * FROM (SELECT dt, shop, q, amount FROM d_orders) PIVOT (sum(amount) FOR q IN (1, 2)) WHERE dt = :biz_date;

-- case: pivot_of_two_aggregates_with_a_name
-- reads: d_orders = Range -6..0
SELECT * FROM (SELECT dt, shop, q, amount FROM d_orders) PIVOT (sum(amount) AS s, count(amount) AS c FOR q IN ('a' AS one, 'b' AS two)) AS p WHERE p.dt BETWEEN date_sub(:biz_date, 6) AND :biz_date;

-- case: unpivot_with_a_name
-- reads: d_orders = Set 0
SELECT * FROM d_orders UNPIVOT INCLUDE NULLS (v FOR n IN (a AS 'A', b AS 'B')) AS u WHERE u.dt = :biz_date;

-- case: month_of_two_numbers_in_a_text
-- reads: d_orders = all month
SELECT * FROM d_orders WHERE concat(year(dt), '-', lpad(month(dt), 2, '0')) = date_format(:biz_date, 'yyyy-MM');

-- case: pipe_limit_below_the_filter
-- reads: d_orders = undecidable
FROM d_orders |> LIMIT 3 |> WHERE dt = :biz_date;

-- case: pipe_filter_below_a_full_join
-- reads: d_orders = Set 0; d_users = undecidable
FROM d_orders o |> WHERE o.dt = :biz_date |> FULL JOIN d_users u ON u.dt = o.dt AND u.user_id = o.user_id;

-- case: pipe_filter_then_join
-- reads: d_orders = Set 0; d_users = Set 0
FROM d_orders |> WHERE dt = :biz_date |> JOIN d_users u ON u.user_id = d_orders.user_id AND u.dt = d_orders.dt;

-- case: pipe_join_filter_join
-- reads: d_orders = Set 0; d_users = Set 0; d_clicks = Set 0
FROM d_orders o |> JOIN d_users u ON u.user_id = o.user_id AND u.dt = o.dt |> WHERE o.dt = :biz_date |> LEFT JOIN d_clicks c ON c.user_id = u.user_id AND c.dt = o.dt |> SELECT o.user_id, c.x;

-- case: pipe_filter_above_an_aggregate
-- reads: d_orders = undecidable
SELECT sum(x) AS x, max(dt) AS dt FROM d_orders |> WHERE dt = :biz_date;

-- case: pipe_set_drop_as_aggregate
-- reads: d_orders = Set 0
FROM d_orders |> WHERE dt = :biz_date |> SET amount = amount * 100, tax = amount / 5 |> DROP tags, note |> AS o |> AGGREGATE sum(o.amount) AS s GROUP BY o.user_id |> WHERE s > 10 |> ORDER BY s DESC |> LIMIT 10 |> OFFSET 2;

-- case: pipe_table_then_pivot
-- reads: d_orders = Range -2..0
TABLE d_orders |> WHERE dt > date_sub(:biz_date, 3) AND dt <= :biz_date |> PIVOT (sum(amount) FOR region IN ('n', 's'));

-- case: pipe_date_set_a_day_on
-- reads: d_orders = Set -1
FROM d_orders |> SET dt = date_add(dt, 1) |> WHERE dt = :biz_date;

-- case: pipe_except_without_brackets
-- reads: d_orders = Set 0; d_returns = Set -1
FROM d_orders |> WHERE dt = :biz_date |> SELECT user_id |> EXCEPT SELECT user_id FROM d_returns WHERE dt = date_sub(:biz_date, 1);

-- case: pipe_union_of_pipes
-- reads: d_orders = Set 0; d_returns = Set 0
FROM d_orders |> SELECT dt, user_id |> UNION ALL (FROM d_returns |> SELECT dt, user_id) |> WHERE dt = :biz_date |> AGGREGATE count(*) AS n GROUP BY user_id;

-- case: pipe_sample_below_the_filter
-- reads: d_orders = undecidable
FROM d_orders |> TABLESAMPLE (5 ROWS) |> WHERE dt = :biz_date;

-- case: pipe_window_below_the_filter
-- reads: d_orders = undecidable
FROM d_orders |> EXTEND lag(amount) OVER (PARTITION BY user_id ORDER BY dt) AS prev |> WHERE dt = :biz_date;

-- case: pipe_from_with_a_join
-- reads: d_orders = Set 0; d_users = Set 0
FROM d_orders o JOIN d_users u ON u.user_id = o.user_id AND o.dt = u.dt |> WHERE o.dt = :biz_date |> AGGREGATE count(*) AS n GROUP BY u.region AS r |> WHERE r = 'x';

-- case: pipe_filter_then_unpivot
-- reads: d_orders = Set 0
FROM d_orders |> WHERE dt = :biz_date |> UNPIVOT (v FOR q IN (q1, q2)) |> SELECT user_id, q, v;

-- case: pipe_order_then_filter_then_join
-- reads: d_orders = Set 0; d_users = Set 0
FROM d_orders |> ORDER BY dt DESC |> WHERE dt = :biz_date |> JOIN d_users USING (dt, user_id);

-- case: from_before_select
-- reads: d_orders = Set 0; d_users = Set 0
FROM d_orders o JOIN d_users u ON u.user_id = o.user_id AND o.dt = u.dt SELECT o.user_id, u.name WHERE o.dt = :biz_date;

-- case: from_two_tables_before_select
-- reads: d_orders = Set 0; d_users = Set 0
FROM d_orders o, d_users u SELECT o.user_id, u.name WHERE o.dt = :biz_date AND u.dt = o.dt;

-- case: from_three_tables_before_select
-- reads: d_orders = Set 0; d_users = Set 0; d_clicks = Set 0
FROM d_orders o JOIN d_users u ON u.user_id = o.user_id AND o.dt = u.dt, d_clicks c SELECT o.user_id WHERE o.dt = :biz_date AND c.dt = o.dt;

-- case: from_before_select_in_brackets
-- reads: d_orders = Set 0; d_users = Set 0
SELECT * FROM (FROM d_orders o JOIN d_users u USING (dt, user_id) SELECT dt, user_id) WHERE dt = :biz_date;

-- case: from_before_select_in_a_union
-- reads: d_orders = Set 0; d_users = Set -1
FROM d_orders SELECT user_id WHERE dt = :biz_date UNION ALL FROM d_users SELECT user_id WHERE dt = date_sub(:biz_date, 1);

-- case: pipe_of_two_tables_as_queries
-- reads: d_orders = Set 0; d_users = Set 0
TABLE d_orders |> JOIN (TABLE d_users) u USING (dt, user_id) |> WHERE dt = :biz_date;

-- case: table_as_a_cte
-- reads: d_orders = Set 0; d_users = Set 0
WITH a AS (TABLE d_orders), b AS (SELECT * FROM a WHERE dt = :biz_date) SELECT * FROM b UNION ALL (SELECT * FROM d_users WHERE dt = :biz_date);

-- case: comma_after_a_left_join
-- reads: d_orders = Set 0; d_users = Set 0; d_clicks = Set 0
SELECT * FROM d_orders o LEFT JOIN d_users u ON u.dt = o.dt AND u.user_id = o.user_id, d_clicks c WHERE o.dt = :biz_date AND c.dt = o.dt;

-- case: joins_with_both_conditions_at_the_end
-- reads: d_orders = Set 0; d_users = Set 0; d_clicks = Set 0
SELECT * FROM d_orders o JOIN d_users u JOIN d_clicks c ON c.dt = u.dt ON u.dt = o.dt WHERE o.dt = :biz_date;

-- case: rows_through_a_script
-- reads: d_orders = Set 0; d_users = Set -1
SELECT TRANSFORM (user_id, amount) USING 'cat' AS (u, a) FROM d_orders WHERE dt = :biz_date AND user_id IN (SELECT user_id FROM d_users WHERE dt = date_sub(:biz_date, 1));

-- case: changed_rows_by_a_hash
-- reads: d_orders = Set -1,0
SELECT cur.user_id FROM d_orders AS cur LEFT OUTER JOIN d_orders AS prev ON prev.user_id <=> cur.user_id AND prev.dt = cur.dt - INTERVAL 1 DAY WHERE cur.dt = :biz_date AND md5(concat_ws('|', cur.a, cur.b)) <> md5(concat_ws('|', prev.a, prev.b));

-- case: union_by_name_in_brackets
-- reads: d_orders = Set 0; d_users = Set 0
(SELECT * FROM d_orders WHERE dt = :biz_date) UNION ALL BY NAME (SELECT * FROM d_users WHERE dt = :biz_date);

-- case: query_in_the_filter_of_an_aggregate
-- reads: d_orders = Set 0; d_users = Set 0
SELECT count(*) FILTER (WHERE user_id IN (SELECT user_id FROM d_users WHERE dt = :biz_date)) FROM d_orders WHERE dt = :biz_date;

-- case: query_in_order_by
-- reads: d_orders = Set 0; d_users = Set 0
SELECT user_id FROM d_orders WHERE dt = :biz_date ORDER BY (SELECT max(x) FROM d_users WHERE dt = :biz_date);

-- case: query_in_having
-- reads: d_orders = Set 0; d_users = Set 0
SELECT user_id, count(*) FROM d_orders WHERE dt = :biz_date GROUP BY user_id HAVING count(*) > (SELECT avg(x) FROM d_users WHERE dt = :biz_date);

-- case: query_in_qualify
-- reads: d_orders = Set 0; d_users = Set 0
SELECT user_id FROM d_orders WHERE dt = :biz_date QUALIFY row_number() OVER (ORDER BY (SELECT max(x) FROM d_users WHERE dt = :biz_date)) = 1;

-- case: query_in_a_join_condition
-- reads: d_orders = Set 0; d_users = Set 0
SELECT o.user_id FROM d_orders o JOIN d_users u ON u.user_id = (SELECT max(user_id) FROM d_users WHERE dt = o.dt) AND u.dt = o.dt WHERE o.dt = :biz_date;

-- case: query_in_a_lateral_view
-- reads: d_orders = Set 0; d_users = Set 0
SELECT x FROM d_orders LATERAL VIEW explode(array((SELECT max(x) FROM d_users WHERE dt = :biz_date))) t AS x WHERE dt = :biz_date;

-- case: pivot_then_join
-- reads: d_orders = Set 0; d_users = Set 0
SELECT * FROM d_orders PIVOT (sum(amount) FOR region IN ('n')) p JOIN d_users u ON u.dt = p.dt WHERE p.dt = :biz_date;

-- case: tables_in_brackets
-- reads: d_orders = Set 0; d_users = Set 0
SELECT * FROM (d_orders), (d_users) WHERE d_orders.dt = :biz_date AND d_users.dt = d_orders.dt;

-- case: left_join_in_brackets_and_a_table_in_brackets
-- reads: d_orders = Set 0; d_users = Set 0; d_clicks = Set 0
SELECT * FROM (d_orders o LEFT JOIN d_users u ON u.dt = o.dt), (d_clicks c) WHERE o.dt = :biz_date AND c.dt = o.dt;

-- case: brackets_in_brackets
-- reads: d_orders = Set 0; d_users = Set 0; d_clicks = Set 0
SELECT * FROM ((d_orders o LEFT JOIN d_users u ON u.dt = o.dt), d_clicks c) WHERE o.dt = :biz_date AND c.dt = o.dt;

-- case: joins_in_two_brackets
-- reads: d_orders = Set 0; d_users = Set 0; d_clicks = Set 0
SELECT * FROM ((d_orders o JOIN d_users u ON u.user_id = o.user_id AND o.dt = u.dt) JOIN d_clicks c ON c.dt = o.dt) WHERE o.dt = :biz_date;

-- case: comma_before_using
-- reads: d_orders = Set 0; d_users = undecidable: no condition bounds; d_clicks = Set 0
SELECT o.amount FROM d_orders o, d_users u JOIN d_clicks c USING (dt) WHERE o.dt = :biz_date;

-- case: piped_names_of_joined_tables
-- reads: d_orders = Set 0; d_users = Set 0
FROM d_orders o |> JOIN d_users u ON o.user_id = u.user_id AND o.dt = u.dt |> SELECT o.dt, u.name, o.amount |> WHERE o.dt = :biz_date |> AGGREGATE sum(amount) AS amount GROUP BY o.dt, u.name;

-- case: piped_rows_without_partner
-- reads: d_orders = Set 0; d_users = Set 0
FROM d_orders o |> LEFT JOIN d_users u USING (user_id, dt) |> WHERE u.dt IS NULL |> EXTEND 1 AS one |> WHERE o.dt = :biz_date |> SELECT o.user_id, one;

-- case: two_tables_of_one_name
-- reads: d_orders = Set 0; d_users = undecidable: no condition bounds
SELECT 1 AS x FROM (SELECT dt AS d, amount FROM d_orders) t, d_users t WHERE t.d = :biz_date;
