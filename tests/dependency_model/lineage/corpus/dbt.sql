-- As people write models of dbt and SQLMesh, references rewritten: staging, incremental, snapshots, spines, metrics. Judged by hand before they were run.

-- case: staging_model
-- reads: d_orders = Set 0
WITH source AS (SELECT * FROM d_orders), renamed AS (SELECT id AS order_id, dt, amount / 100 AS amount FROM source)
SELECT * FROM renamed WHERE dt = :biz_date;

-- case: import_ctes
-- reads: d_orders = Set 0; d_users = Set 0
WITH orders AS (SELECT * FROM d_orders WHERE dt = :biz_date), customers AS (SELECT * FROM d_users WHERE dt = :biz_date),
final AS (SELECT c.*, o.amount FROM customers c LEFT JOIN orders o USING (user_id)) SELECT * FROM final;

-- case: incremental_with_lookback
-- reads: d_clicks = Range -3..0
SELECT * FROM d_clicks WHERE dt >= date_add(:biz_date, -3) AND dt <= :biz_date;

-- case: sqlmesh_interval
-- reads: d_clicks = Set 0
SELECT * FROM d_clicks WHERE dt BETWEEN to_date(:period_start) AND to_date(:period_end - INTERVAL 1 SECOND);

-- case: sqlmesh_interval_of_a_week
-- down: week
-- reads: d_clicks = all
SELECT * FROM d_clicks WHERE dt BETWEEN to_date(:period_start) AND to_date(:period_end - INTERVAL 1 SECOND);

-- case: surrogate_key
-- reads: d_orders = Set 0
SELECT md5(concat(coalesce(cast(user_id AS STRING), ''), '-', coalesce(cast(dt AS STRING), ''))) AS id, * FROM d_orders WHERE dt = :biz_date;

-- case: union_relations
-- reads: d_orders = Set 0; d_returns = Set 0; d_clicks = Set 0
SELECT 'o' AS source, dt FROM d_orders WHERE dt = :biz_date UNION ALL SELECT 'r', dt FROM d_returns WHERE dt = :biz_date
UNION ALL SELECT 'c', dt FROM d_clicks WHERE dt = :biz_date;

-- case: union_then_filter
-- reads: d_orders = Range -6..0; d_returns = Range -6..0
WITH unioned AS (SELECT dt, user_id FROM d_orders UNION ALL SELECT dt, user_id FROM d_returns)
SELECT dt, count(*) FROM unioned WHERE dt BETWEEN date_sub(:biz_date, 6) AND :biz_date GROUP BY dt;

-- case: snapshot_as_of
-- reads: d_users = Set 0; d_orders = Set 0
SELECT o.*, u.plan FROM d_orders o LEFT JOIN d_users u ON u.user_id = o.user_id AND u.dt = o.dt
  AND o.ordered_at >= u.valid_from AND o.ordered_at < coalesce(u.valid_to, TIMESTAMP '9999-12-31') WHERE o.dt = :biz_date;

-- case: date_spine_join
-- reads: d_orders = Range -29..0
WITH spine AS (SELECT explode(sequence(date_sub(:biz_date, 29), :biz_date, INTERVAL 1 DAY)) AS day)
SELECT s.day, coalesce(sum(o.amount), 0) FROM spine s LEFT JOIN d_orders o ON o.dt = s.day GROUP BY s.day;

-- case: date_spine_with_rolling_window
-- reads: d_clicks = Range -12..0
WITH spine AS (SELECT explode(sequence(date_sub(:biz_date, 6), :biz_date)) AS day)
SELECT s.day, count(DISTINCT c.user_id) FROM spine s LEFT JOIN d_clicks c ON c.dt BETWEEN date_sub(s.day, 6) AND s.day GROUP BY s.day;

-- case: date_spine_of_a_month
-- reads: d_orders = to_date month
WITH spine AS (SELECT explode(sequence(trunc(:biz_date, 'MM'), :biz_date)) AS day)
SELECT s.day, sum(o.amount) FROM spine s JOIN d_orders o ON o.dt = s.day GROUP BY s.day;

-- case: calendar_table_drives
-- reads: d_calendar = Range -6..0; d_orders = Range -6..0
SELECT c.dt, sum(o.amount) FROM d_calendar c LEFT JOIN d_orders o ON o.dt = c.dt
WHERE c.dt BETWEEN date_sub(:biz_date, 6) AND :biz_date GROUP BY c.dt;

-- case: calendar_table_of_a_day
-- reads: d_calendar = Set 0; d_orders = Set -1
SELECT o.* FROM d_calendar c JOIN d_orders o ON o.dt = date_sub(c.dt, 1) WHERE c.dt = :biz_date;

-- case: metric_with_period_over_period
-- reads: d_orders = Set -365,-7,-1,0
SELECT sum(CASE WHEN dt = :biz_date THEN amount END) AS today, sum(CASE WHEN dt = date_sub(:biz_date, 1) THEN amount END) AS yesterday,
  sum(CASE WHEN dt = date_sub(:biz_date, 7) THEN amount END) AS week_ago, sum(CASE WHEN dt = date_sub(:biz_date, 365) THEN amount END) AS year_ago
FROM d_orders WHERE dt IN (:biz_date, date_sub(:biz_date, 1), date_sub(:biz_date, 7), date_sub(:biz_date, 365));

-- case: metric_to_date_and_last_year
-- reads: d_orders = to_date year -1,0
SELECT year(dt), sum(amount) FROM d_orders
WHERE dt BETWEEN trunc(:biz_date, 'YEAR') AND :biz_date
   OR dt BETWEEN add_months(trunc(:biz_date, 'YEAR'), -12) AND add_months(:biz_date, -12) GROUP BY year(dt);

-- case: quarter_to_date_and_the_quarter_before
-- reads: d_orders = to_date quarter -1,0
SELECT * FROM d_orders
WHERE dt BETWEEN trunc(:biz_date, 'QUARTER') AND :biz_date
   OR dt BETWEEN add_months(trunc(:biz_date, 'QUARTER'), -3) AND add_months(:biz_date, -3);

-- case: rolling_by_self_join
-- reads: d_total = Range -6..0
SELECT a.dt, sum(b.x) FROM d_total a JOIN d_total b ON b.dt BETWEEN date_sub(a.dt, 6) AND a.dt WHERE a.dt = :biz_date GROUP BY a.dt;

-- case: sessions_of_two_days
-- reads: d_clicks = Set -1,0
WITH events AS (SELECT *, lag(ts) OVER (PARTITION BY user_id ORDER BY ts) AS before FROM d_clicks WHERE dt >= date_sub(:biz_date, 1) AND dt <= :biz_date)
SELECT user_id, sum(CASE WHEN ts - before > INTERVAL 30 MINUTES THEN 1 ELSE 0 END) FROM events WHERE dt = :biz_date GROUP BY user_id;

-- case: first_touch_since_the_start
-- reads: d_clicks = since start
SELECT user_id, min_by(campaign, ts) FROM d_clicks WHERE dt <= :biz_date GROUP BY user_id;

-- case: lifetime_value
-- reads: d_users = Set 0; d_orders = since start
SELECT u.user_id, sum(o.amount) FROM d_users u LEFT JOIN d_orders o ON o.user_id = u.user_id AND o.dt <= :biz_date WHERE u.dt = :biz_date GROUP BY u.user_id;

-- case: lifetime_of_the_past
-- reads: d_users = Set 0; d_orders = undecidable: no condition bounds
SELECT u.user_id, count(o.user_id) FROM d_users u LEFT JOIN d_orders o ON o.user_id = u.user_id AND o.dt < u.dt WHERE u.dt = :biz_date GROUP BY u.user_id;

-- case: funnel_of_ctes
-- reads: d_clicks = Range -6..0; d_orders = Range -6..0
WITH visits AS (SELECT user_id, dt FROM d_clicks WHERE dt BETWEEN date_sub(:biz_date, 6) AND :biz_date),
     buys AS (SELECT o.user_id, o.dt FROM d_orders o JOIN visits v ON v.user_id = o.user_id AND o.dt >= v.dt AND o.dt <= :biz_date)
SELECT (SELECT count(*) FROM buys) / (SELECT count(*) FROM visits);

-- case: dim_scd2_of_the_day_in_a_fact
-- reads: d_orders = Set 0; d_items = Set 0; d_rates = Set 0
SELECT o.order_id, i.name, o.amount * r.rate FROM d_orders o
INNER JOIN d_items i ON i.item_id = o.item_id AND i.dt = o.dt INNER JOIN d_rates r ON r.dt = i.dt AND r.currency = o.currency WHERE o.dt = :biz_date;

-- case: audit_helper_compare
-- reads: d_total = Set -1,0
WITH a AS (SELECT * FROM d_total WHERE dt = :biz_date), b AS (SELECT * FROM d_total WHERE dt = date_sub(:biz_date, 1))
(SELECT user_id FROM a EXCEPT SELECT user_id FROM b) UNION ALL (SELECT user_id FROM b EXCEPT SELECT user_id FROM a);

-- case: unique_test
-- reads: d_orders = Set 0
SELECT order_id FROM d_orders WHERE dt = :biz_date GROUP BY order_id HAVING count(*) > 1;

-- case: relationship_test
-- reads: d_orders = Set 0; d_users = Set 0
SELECT o.user_id FROM d_orders o LEFT JOIN d_users u ON u.user_id = o.user_id AND u.dt = :biz_date WHERE o.dt = :biz_date AND u.user_id IS NULL;

-- case: row_count_against_the_average_of_a_week
-- reads: d_orders = Range -7..0
WITH counts AS (SELECT dt, count(*) AS n FROM d_orders WHERE dt BETWEEN date_sub(:biz_date, 7) AND :biz_date GROUP BY dt)
SELECT * FROM counts WHERE dt = :biz_date AND n < (SELECT avg(n) / 2 FROM counts WHERE dt < :biz_date);

-- case: week_model
-- down: week
-- reads: d_orders = all; d_users = Set 6
WITH o AS (SELECT user_id, sum(amount) AS amount FROM d_orders WHERE date_trunc('week', dt) = :biz_date GROUP BY user_id)
SELECT o.*, u.city FROM o LEFT JOIN d_users u ON u.user_id = o.user_id AND u.dt = date_add(:biz_date, 6);

-- case: month_model
-- down: month
-- reads: d_orders = all; d_users = last of month
WITH o AS (SELECT user_id, sum(amount) AS amount FROM d_orders WHERE date_trunc('month', dt) = :biz_date GROUP BY user_id)
SELECT o.*, u.city FROM o LEFT JOIN d_users u ON u.user_id = o.user_id AND u.dt = last_day(:biz_date);

-- case: month_model_of_weeks
-- down: month
-- reads: w_sales = undecidable: no offset
SELECT sum(x) FROM w_sales WHERE dt >= :biz_date AND dt < add_months(:biz_date, 1);

-- case: quarter_model_of_quarters
-- down: quarter
-- reads: d_orders = all quarter -1,0
SELECT trunc(dt, 'QUARTER'), sum(amount) FROM d_orders WHERE dt >= add_months(:biz_date, -3) AND dt < add_months(:biz_date, 3)
GROUP BY trunc(dt, 'QUARTER');

-- case: hour_model
-- down: hour
-- reads: e_events = all; h_clicks = Set 0
SELECT e.n / c.n FROM (SELECT count(*) AS n FROM e_events WHERE dt = :biz_date AND hour = :biz_hour) e
CROSS JOIN (SELECT count(*) AS n FROM h_clicks WHERE dt = :biz_date AND hour = :biz_hour) c;

-- case: hour_model_with_a_day_before
-- down: hour
-- reads: h_clicks = Set 0; d_total = Set -1
SELECT * FROM h_clicks c LEFT JOIN d_total t ON t.id = c.id AND t.dt = date_sub(c.dt, 1) WHERE c.dt = :biz_date AND c.hour = :biz_hour;

-- case: lateral_array
-- reads: d_orders = Set 0
SELECT o.order_id, item.sku FROM d_orders o LATERAL VIEW explode(o.items) AS item WHERE o.dt = :biz_date;

-- case: struct_and_map
-- reads: d_clicks = Set 0
SELECT props['utm'] AS utm, geo.country FROM d_clicks WHERE dt = :biz_date AND props['bot'] = 'false';

-- case: is_incremental_or_not
-- reads: d_clicks = Set 0
SELECT * FROM d_clicks WHERE 1 = 1 AND dt = :biz_date AND (true OR false);

-- case: coalesced_parameter
-- reads: d_clicks = Set 0
SELECT * FROM d_clicks WHERE dt = coalesce(:biz_date, current_date());

-- case: nested_ctes_with_a_shifted_reader
-- reads: d_clicks = Set -1
WITH base AS (SELECT user_id, date_add(dt, 1) AS effective FROM d_clicks) SELECT * FROM base WHERE effective = :biz_date;

-- case: effective_window
-- reads: d_clicks = Range -7..-1
WITH base AS (SELECT user_id, date_add(dt, 1) AS first_day, date_add(dt, 7) AS last_day FROM d_clicks)
SELECT * FROM base WHERE :biz_date BETWEEN first_day AND last_day;

-- case: month_key_as_number
-- reads: d_orders = all month
SELECT * FROM d_orders WHERE year(dt) * 100 + month(dt) = year(:biz_date) * 100 + month(:biz_date);

-- case: week_key_of_the_day
-- reads: w_sales = Set 0; d_orders = Set 0
SELECT * FROM d_orders o JOIN w_sales w ON w.dt = date_trunc('week', o.dt) WHERE o.dt = :biz_date;

-- case: or_of_two_ctes
-- reads: d_orders = Set -1,0
WITH a AS (SELECT * FROM d_orders WHERE dt = :biz_date OR dt = date_sub(:biz_date, 1)) SELECT * FROM a WHERE amount > 0;

-- case: limited_sample
-- reads: d_orders = Range -6..0
SELECT * FROM (SELECT * FROM d_orders WHERE dt > date_sub(:biz_date, 7) AND dt <= :biz_date ORDER BY rand() LIMIT 100);

-- case: distinct_days_of_activity
-- reads: d_clicks = to_date year
SELECT user_id, count(DISTINCT dt) FROM d_clicks WHERE dt BETWEEN date_trunc('YEAR', :biz_date) AND :biz_date GROUP BY user_id;
