-- As people write for Airflow, templates rewritten: execution dates, data intervals, macros. Judged by hand before they were run.

-- case: ds
-- reads: d_orders = Set 0
SELECT * FROM d_orders WHERE dt = :biz_date;

-- case: ds_in_quotes_of_a_cast
-- reads: d_orders = Set 0
SELECT * FROM d_orders WHERE dt = cast(cast(:biz_date AS STRING) AS DATE);

-- case: yesterday_ds
-- reads: d_orders = Set -1
SELECT * FROM d_orders WHERE dt = date_sub(:biz_date, 1);

-- case: macros_ds_add
-- reads: d_orders = Set -7
SELECT * FROM d_orders WHERE dt = date_add(:biz_date, -7);

-- case: data_interval
-- reads: d_orders = Set 0
SELECT * FROM d_orders WHERE dt >= :biz_date AND dt < date_add(:biz_date, 1);

-- case: data_interval_as_instants
-- reads: d_orders = Set 0
SELECT * FROM d_orders WHERE dt >= to_date(:period_start) AND dt < to_date(:period_end);

-- case: data_interval_of_a_week
-- down: week
-- reads: d_orders = all
SELECT * FROM d_orders WHERE dt >= to_date(:period_start) AND dt < to_date(:period_end);

-- case: data_interval_of_a_month
-- down: month
-- reads: d_orders = all
SELECT * FROM d_orders WHERE dt >= to_date(:period_start) AND dt < to_date(:period_end);

-- case: data_interval_of_an_hour
-- down: hour
-- reads: h_clicks = Set 0
SELECT * FROM h_clicks WHERE dt = :biz_date AND hour = :biz_hour;

-- case: lookback_of_three_days
-- reads: d_orders = Range -2..0
SELECT * FROM d_orders WHERE dt > date_sub(:biz_date, 3) AND dt <= :biz_date;

-- case: lookback_of_late_data
-- reads: d_orders = Range -3..0
SELECT * FROM d_orders WHERE dt BETWEEN date_sub(:biz_date, 3) AND :biz_date AND to_date(created_at) = :biz_date;

-- case: dedup_latest_per_key
-- reads: d_clicks = Set -1,0
SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY dt DESC, ts DESC) AS rn FROM d_clicks
  WHERE dt BETWEEN date_sub(:biz_date, 1) AND :biz_date) WHERE rn = 1;

-- case: first_of_month_macro
-- reads: d_orders = to_date month
SELECT * FROM d_orders WHERE dt BETWEEN make_date(year(:biz_date), month(:biz_date), 1) AND :biz_date;

-- case: first_of_year_macro
-- reads: d_orders = to_date year
SELECT * FROM d_orders WHERE dt BETWEEN make_date(year(:biz_date), 1, 1) AND :biz_date;

-- case: ds_nodash
-- reads: d_orders = Set 0
SELECT * FROM d_orders WHERE date_format(dt, 'yyyyMMdd') = date_format(:biz_date, 'yyyyMMdd');

-- case: ds_format_of_the_month
-- reads: d_orders = all month
SELECT * FROM d_orders WHERE date_format(dt, 'yyyyMM') = date_format(:biz_date, 'yyyyMM');

-- case: next_ds
-- reads: d_orders = Set 1
SELECT * FROM d_orders WHERE dt = date_add(:biz_date, 1);

-- case: prev_and_next
-- reads: d_rates = Range -1..1
SELECT * FROM d_rates WHERE dt BETWEEN date_sub(:biz_date, 1) AND date_add(:biz_date, 1);

-- case: daily_from_hours
-- reads: h_orders = all
SELECT city, sum(amount) FROM h_orders WHERE dt = :biz_date GROUP BY city;

-- case: daily_from_hours_and_dimension
-- reads: h_orders = all; d_stores = Set 0
SELECT s.region, sum(o.amount) FROM h_orders o JOIN d_stores s ON s.store_id = o.store_id AND s.dt = o.dt WHERE o.dt = :biz_date GROUP BY s.region;

-- case: weekly_report_of_sundays
-- down: week
-- reads: d_total = Set 6
SELECT * FROM d_total WHERE dt = date_add(:biz_date, 6);

-- case: weekly_against_four_weeks
-- down: week
-- reads: d_orders = Range -28..6
SELECT * FROM d_orders WHERE dt BETWEEN date_sub(:biz_date, 28) AND date_add(:biz_date, 6);

-- case: monthly_churn
-- down: month
-- reads: d_users = last of month -1,0
SELECT p.user_id FROM d_users p LEFT JOIN d_users n ON n.user_id = p.user_id AND n.dt = last_day(:biz_date)
WHERE p.dt = date_sub(:biz_date, 1) AND n.user_id IS NULL;

-- case: monthly_billing_of_hours
-- down: month
-- reads: h_clicks = all
SELECT account, count(*) FROM h_clicks WHERE dt BETWEEN :biz_date AND last_day(:biz_date) GROUP BY account;

-- case: monthly_mrr_movement
-- down: month
-- reads: m_targets = Set -1,0
SELECT coalesce(c.account, p.account) AS account, coalesce(c.mrr, 0) - coalesce(p.mrr, 0) AS moved
FROM (SELECT * FROM m_targets WHERE dt = :biz_date) c
FULL OUTER JOIN (SELECT * FROM m_targets WHERE dt = add_months(:biz_date, -1)) p ON p.account = c.account;

-- case: quarterly_from_months
-- down: quarter
-- reads: m_targets = all
SELECT sum(target) FROM m_targets WHERE dt BETWEEN :biz_date AND add_months(:biz_date, 2);

-- case: yearly_from_days
-- down: year
-- reads: d_orders = all
SELECT sum(amount) FROM d_orders WHERE date_trunc('year', dt) = :biz_date;

-- case: yearly_against_last_year
-- down: year
-- reads: d_orders = all year -1,0
SELECT sum(amount) FROM d_orders WHERE dt >= add_months(:biz_date, -12) AND dt < add_months(:biz_date, 12);

-- case: five_minutes_alerts
-- down: hour
-- reads: e_events = all
SELECT max(latency) FROM e_events WHERE dt = :biz_date AND hour = :biz_hour GROUP BY minute;

-- case: wau
-- reads: d_clicks = Range -6..0
SELECT count(DISTINCT user_id) AS wau FROM d_clicks WHERE dt BETWEEN date_sub(:biz_date, 6) AND :biz_date;

-- case: mau_of_28_days
-- reads: d_clicks = Range -27..0
SELECT count(DISTINCT user_id) AS mau FROM d_clicks WHERE dt BETWEEN date_sub(:biz_date, 27) AND :biz_date;

-- case: stickiness
-- reads: d_clicks = Range -29..0
SELECT (SELECT count(DISTINCT user_id) FROM d_clicks WHERE dt = :biz_date)
  / (SELECT count(DISTINCT user_id) FROM d_clicks WHERE dt BETWEEN date_sub(:biz_date, 29) AND :biz_date) AS dau_by_mau;

-- case: cohort_day_thirty
-- reads: d_users = Set -30; d_clicks = Set 0
SELECT count(DISTINCT c.user_id) FROM d_users u JOIN d_clicks c ON c.user_id = u.user_id
WHERE u.dt = date_sub(:biz_date, 30) AND c.dt = date_add(u.dt, 30);

-- case: cohort_of_a_week_kept_in_this_one
-- down: week
-- reads: d_users = Range -7..-1; d_clicks = all
SELECT count(DISTINCT c.user_id) FROM d_users u JOIN d_clicks c ON c.user_id = u.user_id
WHERE u.dt BETWEEN date_sub(:biz_date, 7) AND date_sub(:biz_date, 1) AND c.dt BETWEEN :biz_date AND date_add(:biz_date, 6);

-- case: anomaly_against_same_weekdays
-- reads: d_orders = Set -28,-21,-14,-7,0
SELECT dt, sum(amount) FROM d_orders WHERE datediff(:biz_date, dt) IN (0, 7, 14, 21, 28) GROUP BY dt;

-- case: anomaly_by_modulo
-- reads: d_orders = Set -28,-21,-14,-7,0
SELECT dt, sum(amount) FROM d_orders WHERE dt BETWEEN date_sub(:biz_date, 28) AND :biz_date AND datediff(:biz_date, dt) % 7 = 0 GROUP BY dt;

-- case: rates_of_the_day_before
-- reads: d_orders = Set 0; d_rates = Set -1
SELECT o.amount * r.rate FROM d_orders o LEFT JOIN d_rates r ON r.currency = o.currency AND r.dt = date_sub(o.dt, 1) WHERE o.dt = :biz_date;

-- case: rates_of_each_days_month_end
-- reads: d_orders = Set 0; d_rates = last of month -1
SELECT o.amount * r.rate FROM d_orders o JOIN d_rates r ON r.dt = last_day(add_months(o.dt, -1)) WHERE o.dt = :biz_date;

-- case: settlement_two_days_later
-- reads: d_orders = Set -2; d_returns = Range -2..0
SELECT o.order_id FROM d_orders o LEFT JOIN d_returns r ON r.order_id = o.order_id AND r.dt BETWEEN o.dt AND date_add(o.dt, 2)
WHERE o.dt = date_sub(:biz_date, 2);

-- case: sla_of_yesterdays_hours
-- down: hour
-- reads: h_clicks = all day -1
SELECT avg(latency) FROM h_clicks WHERE dt = date_sub(:biz_date, 1);

-- case: month_of_last_year
-- reads: d_orders = all month -12
SELECT * FROM d_orders WHERE dt BETWEEN add_months(trunc(:biz_date, 'MM'), -12) AND last_day(add_months(:biz_date, -12));

-- case: six_whole_months_before
-- reads: d_orders = all month -6..-1
SELECT * FROM d_orders WHERE dt >= add_months(trunc(:biz_date, 'MM'), -6) AND dt < trunc(:biz_date, 'MM');

-- case: four_whole_weeks_before
-- reads: d_orders = all week -4..-1
SELECT * FROM d_orders WHERE dt >= date_sub(trunc(:biz_date, 'WEEK'), 28) AND dt < trunc(:biz_date, 'WEEK');

-- case: snapshot_of_the_first_and_now
-- reads: d_total = first of month and Set 0
SELECT n.x - f.x FROM d_total n JOIN d_total f ON f.id = n.id AND f.dt = trunc(n.dt, 'MM') WHERE n.dt = :biz_date;

-- case: self_reference_for_running_total
-- reads: d_total = Set -1; d_orders = Set 0; d_returns = Set 0
SELECT t.total + coalesce(o.a, 0) - coalesce(r.a, 0) FROM d_total t
LEFT JOIN (SELECT id, sum(amount) AS a FROM d_orders WHERE dt = :biz_date GROUP BY id) o ON o.id = t.id
LEFT JOIN (SELECT id, sum(amount) AS a FROM d_returns WHERE dt = :biz_date GROUP BY id) r ON r.id = t.id
WHERE t.dt = date_sub(:biz_date, 1);

-- case: static_dimension
-- reads: d_orders = Set 0; s_regions = static
SELECT r.name, sum(o.amount) FROM d_orders o JOIN s_regions r ON r.id = o.region_id WHERE o.dt = :biz_date GROUP BY r.name;

-- case: catchup_by_logical_date
-- reads: d_orders = undecidable: unknown parameter
SELECT * FROM d_orders WHERE dt = :logical_date;

-- case: sensor_like_count
-- reads: d_orders = Set 0
SELECT count(*) > 0 FROM d_orders WHERE dt = :biz_date LIMIT 1;

-- case: incremental_by_watermark
-- reads: d_orders = undecidable; d_total = undecidable
SELECT * FROM d_orders WHERE dt > (SELECT max(dt) FROM d_total);
