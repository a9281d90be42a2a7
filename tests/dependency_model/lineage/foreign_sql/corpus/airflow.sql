-- case: daily_aggregation
-- from: airflow
-- reads: d_orders = Set 0
{# written by the data team #}
INSERT OVERWRITE TABLE analytics.dws_x PARTITION (dt = '{{ ds }}')
SELECT city, COUNT(*) AS orders
FROM d_orders
WHERE dt = '{{ ds }}'
GROUP BY city
-- end

-- case: yesterday_and_tomorrow
-- from: airflow
-- reads: d_orders = Range -1..1
SELECT amount FROM d_orders WHERE dt IN ('{{ yesterday_ds }}', '{{ ds }}', '{{ tomorrow_ds }}')
-- end

-- case: last_week_by_ds_add
-- from: airflow
-- reads: d_clicks = Range -6..0
SELECT user_id, COUNT(*) AS n FROM d_clicks
WHERE dt BETWEEN '{{ macros.ds_add(ds, -6) }}' AND '{{ ds }}' GROUP BY user_id
-- end

-- case: nodash_text
-- from: airflow
-- reads: d_orders = Set -1
SELECT amount FROM d_orders
WHERE date_format(dt, 'yyyyMMdd') = '{{ macros.ds_format(macros.ds_add(ds, -1), "%Y-%m-%d", "%Y%m%d") }}'
-- end

-- case: interval
-- from: airflow
-- reads: d_orders = Set 0
SELECT amount FROM d_orders
WHERE dt = to_date('{{ data_interval_start }}') AND paid_at >= '{{ data_interval_start }}'
  AND paid_at < '{{ data_interval_end }}'
-- end

-- case: hourly_interval
-- from: airflow
-- period: hour
-- reads: h_clicks = Set 0
SELECT user_id FROM h_clicks
WHERE dt = '{{ data_interval_start.strftime("%Y-%m-%d") }}' AND hour = '{{ data_interval_start.strftime("%H") }}'
-- end

-- case: timedelta
-- from: airflow
-- reads: d_users = Set -1; d_orders = Set 0
SELECT u.city FROM d_users u JOIN d_orders o ON u.user_id = o.user_id
WHERE u.dt = '{{ (execution_date - macros.timedelta(days=1)).strftime("%Y-%m-%d") }}' AND o.dt = '{{ ds }}'
-- end

-- case: params
-- from: airflow
-- parameters: city=Lyon; lookback=date_sub(:biz_date, 2)
-- reads: d_orders = Range -2..0
SELECT amount FROM d_orders WHERE dt >= '{{ params.lookback }}' AND dt <= '{{ ds }}' AND city = '{{ params.city }}'
-- end

-- case: weekly_dag
-- from: airflow
-- period: week
-- reads: d_orders = all
SELECT SUM(amount) AS gmv FROM d_orders
WHERE dt >= '{{ data_interval_start | ds }}' AND dt < '{{ data_interval_end | ds }}'
-- end

-- case: a_loop_is_left
-- from: airflow
-- left: 2 template
SELECT amount FROM d_orders WHERE dt = '{{ ds }}'
{% if params.limited %} LIMIT 10 {% endif %}
-- end

-- case: xcom_is_left
-- from: airflow
-- left: 1 no templates are run
SELECT amount FROM d_orders WHERE dt = '{{ ds }}' AND id > {{ ti.xcom_pull('max_id') }}
-- end
