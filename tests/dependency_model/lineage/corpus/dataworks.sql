-- As people write for DataWorks and MaxCompute, placeholders and functions rewritten. Judged by hand before they were run.

-- case: bizdate
-- reads: d_orders = Set 0
SELECT * FROM d_orders WHERE dt = date_format(:biz_date, 'yyyy-MM-dd');

-- case: bizdate_minus_one
-- reads: d_orders = Set -1
SELECT * FROM d_orders WHERE dt = date_format(date_add(:biz_date, -1), 'yyyy-MM-dd');

-- case: parsed_compact_bizdate
-- reads: d_orders = Range -6..0
SELECT * FROM d_orders WHERE dt >= date_add(to_date(date_format(:biz_date, 'yyyyMMdd'), 'yyyyMMdd'), -6)
  AND dt <= to_date(date_format(:biz_date, 'yyyyMMdd'), 'yyyyMMdd');

-- case: compact_partition_text
-- reads: d_orders = Range -2..0
SELECT * FROM d_orders WHERE date_format(dt, 'yyyyMMdd') BETWEEN date_format(date_sub(:biz_date, 2), 'yyyyMMdd') AND date_format(:biz_date, 'yyyyMMdd');

-- case: regexp_compact
-- reads: d_orders = Set 0
SELECT * FROM d_orders WHERE regexp_replace(cast(dt AS STRING), '-', '') = regexp_replace(cast(:biz_date AS STRING), '-', '');

-- case: replace_compact
-- reads: d_orders = Set 0
SELECT * FROM d_orders WHERE replace(dt, '-', '') = replace(:biz_date, '-', '');

-- case: substr_month
-- reads: d_orders = all month
SELECT * FROM d_orders WHERE substr(dt, 1, 7) = substr(:biz_date, 1, 7);

-- case: month_to_date_with_01
-- reads: d_orders = to_date month
SELECT * FROM d_orders WHERE dt >= concat(date_format(:biz_date, 'yyyy-MM'), '-01') AND dt <= :biz_date;

-- case: year_to_date_with_0101
-- reads: d_orders = to_date year
SELECT * FROM d_orders WHERE dt >= concat(year(:biz_date), '-01-01') AND dt <= :biz_date;

-- case: previous_month_by_text
-- reads: d_orders = all month -1
SELECT * FROM d_orders WHERE substr(dt, 1, 7) = substr(add_months(:biz_date, -1), 1, 7);

-- case: two_month_ends
-- reads: d_total = last of month -2,-1
SELECT * FROM d_total WHERE dt IN (last_day(add_months(:biz_date, -1)), last_day(add_months(:biz_date, -2)));

-- case: datediff_one
-- reads: d_orders = Set -1
SELECT * FROM d_orders WHERE datediff(:biz_date, dt) = 1;

-- case: datediff_between_in_join
-- reads: d_orders = Set 0; d_clicks = Range -3..0
SELECT * FROM d_orders o JOIN d_clicks c ON c.user_id = o.user_id AND datediff(o.dt, c.dt) BETWEEN 0 AND 3 WHERE o.dt = :biz_date;

-- case: union_of_history_and_today
-- reads: d_total = Set -1; d_orders = Set 0
SELECT user_id, sum(amount) FROM (
  SELECT user_id, total AS amount FROM d_total WHERE dt = date_sub(:biz_date, 1)
  UNION ALL SELECT user_id, amount FROM d_orders WHERE dt = :biz_date) t GROUP BY user_id;

-- case: ods_delta_merge_with_deletes
-- reads: d_total = Set -1; d_orders = Set 0
SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY seq DESC) AS rn FROM (
  SELECT id, 0 AS seq, 'I' AS op FROM d_total WHERE dt = date_sub(:biz_date, 1)
  UNION ALL SELECT id, seq, op FROM d_orders WHERE dt = :biz_date) x) y WHERE rn = 1 AND op <> 'D';

-- case: mapjoin_hint
-- reads: d_orders = Set 0; d_stores = Set 0
SELECT /*+ MAPJOIN(s) */ o.*, s.name FROM d_orders o JOIN d_stores s ON s.store_id = o.store_id AND s.dt = :biz_date WHERE o.dt = :biz_date;

-- case: skewed_join_with_random_keys
-- reads: d_orders = Set 0; d_users = Set 0
SELECT o.* FROM d_orders o LEFT JOIN d_users u ON coalesce(o.user_id, concat('r', rand())) = u.user_id AND u.dt = :biz_date WHERE o.dt = :biz_date;

-- case: uv_and_pv_of_channels
-- reads: d_clicks = Set 0
SELECT nvl(channel, 'all') AS channel, count(1) AS pv, count(DISTINCT user_id) AS uv FROM d_clicks WHERE dt = :biz_date GROUP BY channel WITH ROLLUP;

-- case: conversion_funnel
-- reads: d_clicks = Set 0; d_orders = Set 0
SELECT a.n / b.n FROM (SELECT count(DISTINCT user_id) AS n FROM d_orders WHERE dt = :biz_date) a
JOIN (SELECT count(DISTINCT user_id) AS n FROM d_clicks WHERE dt = :biz_date) b ON 1 = 1;

-- case: repurchase_within_thirty_days
-- reads: d_orders = Range -30..0
SELECT count(DISTINCT b.user_id) / count(DISTINCT a.user_id) FROM d_orders a
LEFT JOIN d_orders b ON a.user_id = b.user_id AND b.dt > a.dt AND b.dt <= date_add(a.dt, 30) AND b.dt <= :biz_date
WHERE a.dt BETWEEN date_sub(:biz_date, 30) AND :biz_date;

-- case: payment_of_orders_of_two_days
-- reads: d_orders = Set -1,0; d_rates = Set 0
SELECT o.*, r.rate FROM d_orders o JOIN d_rates r ON r.currency = o.currency WHERE o.dt IN (:biz_date, date_sub(:biz_date, 1)) AND r.dt = :biz_date;

-- case: order_detail_with_two_days_of_payments
-- reads: d_orders = Set 0; d_clicks = Set -1,0
SELECT o.order_id, p.ts FROM (SELECT * FROM d_orders WHERE dt = :biz_date) o
JOIN (SELECT * FROM d_clicks WHERE dt = :biz_date OR dt = date_sub(:biz_date, 1)) p ON p.order_id = o.order_id;

-- case: hh_of_the_day
-- reads: h_orders = all
SELECT hour, sum(amount) FROM h_orders WHERE dt = :biz_date AND hour >= '00' GROUP BY hour;

-- case: hourly_gmv_against_yesterday
-- down: hour
-- reads: h_orders = date -1,0 day
SELECT sum(if(dt = :biz_date, amount, 0)), sum(if(dt = date_sub(:biz_date, 1), amount, 0)) FROM h_orders
WHERE dt IN (:biz_date, date_sub(:biz_date, 1)) AND hour = :biz_hour;

-- case: twelve_hours
-- reads: h_orders = Range 0..11
SELECT * FROM h_orders WHERE dt = :biz_date AND hour < '12';

-- case: monthly_from_daily_totals
-- down: month
-- reads: d_total = last of month
SELECT * FROM d_total WHERE dt = date_sub(add_months(:biz_date, 1), 1);

-- case: monthly_from_months
-- down: month
-- reads: m_targets = Set -1
SELECT * FROM m_targets WHERE dt = add_months(:biz_date, -1);

-- case: monthly_active_both_months
-- down: month
-- reads: d_clicks = all month -1,0
SELECT count(*) FROM (SELECT DISTINCT user_id FROM d_clicks WHERE substr(dt, 1, 7) = substr(:biz_date, 1, 7)) a
JOIN (SELECT DISTINCT user_id FROM d_clicks WHERE substr(dt, 1, 7) = substr(add_months(:biz_date, -1), 1, 7)) b ON a.user_id = b.user_id;

-- case: weekly_by_weekday_arithmetic
-- down: week
-- reads: d_orders = all
SELECT * FROM d_orders WHERE date_sub(dt, weekday(dt)) = :biz_date;

-- case: week_to_date_by_weekday
-- reads: d_orders = to_date week
SELECT * FROM d_orders WHERE dt BETWEEN date_sub(:biz_date, weekday(:biz_date)) AND :biz_date;

-- case: week_to_date_by_pmod
-- reads: d_orders = to_date week
SELECT * FROM d_orders WHERE dt BETWEEN date_sub(:biz_date, pmod(datediff(:biz_date, DATE '2024-01-01'), 7)) AND :biz_date;

-- case: sunday_before
-- reads: d_total = Set 6 of week -1
SELECT * FROM d_total WHERE dt = date_sub(:biz_date, weekday(:biz_date) + 1);

-- case: last_year_to_date
-- reads: d_orders = to_date year -1
SELECT * FROM d_orders WHERE dt BETWEEN add_months(trunc(:biz_date, 'YYYY'), -12) AND add_months(:biz_date, -12);

-- case: month_to_date_and_last_months
-- reads: d_orders = to_date month -1,0
SELECT * FROM d_orders WHERE (dt >= trunc(:biz_date, 'MM') AND dt <= :biz_date)
  OR (dt >= add_months(trunc(:biz_date, 'MM'), -1) AND dt <= add_months(:biz_date, -1));

-- case: quarter_to_date
-- reads: d_orders = to_date quarter
SELECT * FROM d_orders WHERE dt BETWEEN trunc(:biz_date, 'QUARTER') AND :biz_date;

-- case: quarter_to_date_by_months
-- reads: d_orders = to_date quarter
SELECT * FROM d_orders WHERE dt BETWEEN add_months(trunc(:biz_date, 'MM'), -pmod(month(:biz_date) - 1, 3)) AND :biz_date;

-- case: case_of_first_day
-- reads: d_total = Set -1
SELECT * FROM d_total WHERE dt = CASE WHEN day(:biz_date) = 1 THEN last_day(add_months(:biz_date, -1)) ELSE date_sub(:biz_date, 1) END;

-- case: only_on_mondays
-- reads: d_orders = undecidable: no offset
SELECT * FROM d_orders WHERE dt = :biz_date AND weekday(:biz_date) = 0;

-- case: between_swapped_is_empty
-- reads: d_orders = undecidable: its conditions are never true
SELECT * FROM d_orders WHERE dt BETWEEN :biz_date AND date_sub(:biz_date, 1);

-- case: all_partitions
-- reads: d_orders = undecidable: no condition bounds
SELECT count(*) FROM d_orders;
