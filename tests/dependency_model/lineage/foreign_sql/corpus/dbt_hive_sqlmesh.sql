-- case: dbt_incremental_by_partition
-- from: dbt
-- reads: d_orders = Set 0
{{ config(materialized='incremental', partition_by=['dt'],
          incremental_strategy='insert_overwrite') }}

select o.user_id, sum(o.amount) as gmv
from {{ ref('d_orders') }} o
{% if is_incremental() %}
where o.dt > (select max(dt) from {{ this }})
{% endif %}
group by o.user_id
-- end

-- case: dbt_sources_and_ctes
-- from: dbt
-- reads: d_orders = Set 0; s_regions = static
with orders as (select * from {{ source('shop', 'd_orders') }}
  {%- if is_incremental() -%} where dt >= (select coalesce(max(dt), '1900-01-01') from {{ this }}) {%- endif -%}),
regions as (select * from {{ ref('geo', 's_regions') }})
select r.name, count(*) as n from orders o join regions r on o.region = r.id group by r.name
-- end

-- case: dbt_variable
-- from: dbt
-- parameters: run_date=:biz_date
-- reads: d_clicks = Set 0
select user_id from {{ ref("d_clicks", v=2) }}
{% if is_incremental() %} where dt = '{{ var("run_date") }}' {% else %} where dt >= '2020-01-01' {% endif %}
-- end

-- case: dbt_newer_by_another_column_is_left
-- from: dbt
-- left: 2 rows newer
select user_id from {{ ref('d_clicks') }}
{% if is_incremental() %} where updated_at > (select max(updated_at) from {{ this }}) {% endif %}
-- end

-- case: dbt_variable_is_left
-- from: dbt
-- left: 1 --parameter start
select user_id from {{ ref('d_clicks') }} where dt >= '{{ var('start', '2020-01-01') }}'
-- end

-- case: hive_dynamic_partition
-- from: hive
-- reads: d_orders = Set 0
SET hive.exec.dynamic.partition = true;
SET hive.exec.dynamic.partition.mode = nonstrict;
INSERT OVERWRITE TABLE dws.dws_x PARTITION (dt)
SELECT user_id, SUM(amount) AS gmv, dt
FROM d_orders
GROUP BY user_id, dt;
-- end

-- case: hive_variables
-- from: hive
-- parameters: dt=:biz_date; before=date_sub(:biz_date, 1)
-- reads: d_orders = Set -1,0
INSERT OVERWRITE TABLE dws_x PARTITION (dt=:biz_date)
SELECT amount FROM d_orders WHERE dt BETWEEN '${hivevar:before}' AND '${hiveconf:dt}'
-- end

-- case: hive_with_before_insert
-- from: hive
-- reads: d_orders = Set 0; d_users = Set 0
WITH o AS (SELECT * FROM d_orders WHERE dt = :biz_date)
INSERT OVERWRITE TABLE dws_x
SELECT u.city, SUM(o.amount) AS gmv FROM o JOIN d_users u ON o.user_id = u.user_id AND u.dt = o.dt GROUP BY u.city
-- end

-- case: hive_create_as
-- from: hive
-- reads: d_orders = Set 0
CREATE TABLE IF NOT EXISTS dws_x STORED AS ORC TBLPROPERTIES ('orc.compress'='SNAPPY') AS
SELECT amount FROM d_orders WHERE dt = :biz_date
-- end

-- case: sqlmesh_incremental_by_time
-- from: sqlmesh
-- reads: d_orders = Set 0
MODEL (
  name dws.dws_x,
  kind INCREMENTAL_BY_TIME_RANGE (time_column dt),
  cron '@daily'
);
SELECT user_id, amount FROM d_orders WHERE dt BETWEEN @start_ds AND @end_ds
-- end

-- case: sqlmesh_of_a_week
-- from: sqlmesh
-- period: week
-- reads: d_orders = all
SELECT SUM(amount) AS gmv FROM d_orders WHERE dt BETWEEN @start_date AND @end_date
-- end

-- case: sqlmesh_end_of_time_is_left
-- from: sqlmesh
-- left: 1 < :period_end
SELECT user_id FROM d_orders WHERE dt = @start_ds AND at BETWEEN @start_ts AND @end_ts
-- end
