-- case: daily_aggregation
-- reads: d_orders = Set 0
--********************************************************************--
-- author: someone, in a comment ${bizdate} stays
--********************************************************************--
INSERT OVERWRITE TABLE dws.dws_x PARTITION (ds='${bizdate}')
SELECT user_id, SUM(amount) AS gmv
FROM d_orders
WHERE dt = '${bizdate}'
GROUP BY user_id;
-- end

-- case: t_minus_one_by_the_planned_time
-- reads: d_orders = Set 0; d_users = Set -1
SET odps.sql.type.system.odps2 = true;
INSERT OVERWRITE TABLE dws_x PARTITION (dt='$[yyyymmdd-1]')
SELECT o.user_id, u.city
FROM d_orders o LEFT JOIN d_users u ON o.user_id = u.user_id AND u.dt = '$[yyyymmdd-2]'
WHERE o.dt = '$[yyyymmdd-1]'
-- end

-- case: seven_days_by_dateadd
-- reads: d_clicks = Range -6..0
INSERT OVERWRITE TABLE dws_x PARTITION (pt='${bizdate}')
SELECT user_id, COUNT(*) AS clicks
FROM d_clicks
WHERE dt > dateadd(to_date('${bizdate}', 'yyyymmdd'), -7, 'dd')
  AND dt <= to_date('${bizdate}', 'yyyymmdd')
GROUP BY user_id
-- end

-- case: text_partition_compared_by_to_char
-- reads: d_orders = Range -29..0
SELECT user_id, MAX(amount) AS top
FROM d_orders
WHERE to_char(dt, 'yyyymmdd') BETWEEN to_char(dateadd(to_date('${bizdate}', 'yyyymmdd'), -29, 'dd'), 'yyyymmdd')
                                  AND '${bizdate}'
GROUP BY user_id
-- end

-- case: month_to_date_by_a_text_put_together
-- reads: d_orders = to_date month
SELECT SUM(amount) AS gmv_mtd
FROM d_orders
WHERE date_format(dt, 'yyyyMMdd') >= '${yyyymm}01' AND dt <= '${yyyy-mm-dd}'
-- end

-- case: zipper_table
-- reads: dws_x = Set -1; d_users = Set 0
INSERT OVERWRITE TABLE dws_x PARTITION (dt='${bizdate}')
SELECT h.user_id, h.city, h.start_date,
       CASE WHEN n.user_id IS NOT NULL AND h.end_date = '99991231' THEN '${yyyymmdd-1}' ELSE h.end_date END AS end_date
FROM (SELECT * FROM dws_x WHERE dt = '${yyyymmdd-1}') h
LEFT JOIN (SELECT * FROM d_users WHERE dt = '${bizdate}') n ON h.user_id = n.user_id
UNION ALL
SELECT user_id, city, '${bizdate}' AS start_date, '99991231' AS end_date FROM d_users WHERE dt = '${bizdate}';
-- end

-- case: retention_of_yesterday
-- reads: d_users = Set -1; d_clicks = Set 0
SELECT COUNT(DISTINCT c.user_id) / COUNT(DISTINCT u.user_id) AS retained
FROM (SELECT user_id FROM d_users WHERE dt = '${yyyymmdd-1}') u
LEFT JOIN (SELECT user_id FROM d_clicks WHERE dt = ${bizdate}) c ON u.user_id = c.user_id
-- end

-- case: week_over_week
-- reads: d_orders = Set -7,0
SELECT SUM(IF(dt = '${bizdate}', amount, 0)) AS now, SUM(IF(dt = '${yyyymmdd-7*1}', amount, 0)) AS before
FROM d_orders WHERE dt IN ('${bizdate}', '${yyyymmdd-7*1}')
-- end

-- case: custom_parameters
-- parameters: start_dt=$[yyyymmdd-3]; end_dt=${bizdate}; city=Lyon
-- reads: d_orders = Range -2..0
SELECT amount FROM d_orders WHERE dt BETWEEN '${start_dt}' AND '${end_dt}' AND city = '${city}'
-- end

-- case: hourly
-- period: hour
-- reads: h_clicks = Set 0
INSERT OVERWRITE TABLE dws_x PARTITION (dt='$[yyyymmdd-1/24]', hour='$[hh24-1/24]')
SELECT user_id, COUNT(1) AS clicks FROM h_clicks
WHERE dt = '$[yyyymmdd-1/24]' AND hour = '$[hh24-1/24]' GROUP BY user_id
-- end

-- case: cross_midnight
-- reads: d_orders = Set 0,1
SELECT order_id FROM d_orders
WHERE dt IN ('${bizdate}', '$[yyyymmdd]') AND date_format(created_at, 'yyyyMMdd') = '${bizdate}'
-- end

-- case: dolphinscheduler_daily
-- from: dolphinscheduler
-- reads: d_orders = Set 0; d_users = Set -1
INSERT OVERWRITE TABLE dws_x PARTITION (dt = '${system.biz.date}')
SELECT o.amount, u.city FROM d_orders o JOIN d_users u
ON o.user_id = u.user_id AND u.dt = '$[yyyy-MM-dd-2]' WHERE o.dt = '$[yyyy-MM-dd-1]'
-- end

-- case: dolphinscheduler_month
-- from: dolphinscheduler
-- period: month
-- reads: d_orders = all
SELECT SUM(amount) AS gmv FROM d_orders WHERE date_format(dt, 'yyyyMM') = '$[add_months(yyyyMM,-1)]'
-- end

-- case: a_clock_is_left
-- left: 3 getdate
SELECT amount
FROM d_orders
WHERE dt = '${bizdate}' AND created_at < getdate()
-- end

-- case: an_unknown_parameter_is_left
-- left: 1 --parameter env_name
SELECT amount FROM d_orders WHERE dt = '${bizdate}' AND env = '${env_name}'
-- end

-- case: anothers_placeholder_is_left
-- left: 1 Airflow
SELECT amount FROM d_orders WHERE dt = '{{ ds }}'
-- end
