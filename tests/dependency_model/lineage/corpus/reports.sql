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
