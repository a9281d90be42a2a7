-- case: cte_filtered_outside
-- reads: d_orders = Set 0
WITH o AS (SELECT user_id, dt, sum(amount) AS amount FROM d_orders GROUP BY user_id, dt)
SELECT user_id, amount FROM o WHERE dt = :biz_date;

-- case: cte_aggregated_away
-- reads: d_orders = undecidable
WITH o AS (SELECT user_id, max(dt) AS dt, sum(amount) AS amount FROM d_orders GROUP BY user_id)
SELECT user_id, amount FROM o WHERE dt = :biz_date;

-- case: cte_twice_with_different_days
-- reads: d_orders = Set -1,0
WITH o AS (SELECT user_id, dt, amount FROM d_orders)
SELECT a.user_id, a.amount - b.amount AS change
FROM o AS a LEFT JOIN o AS b ON b.user_id = a.user_id AND b.dt = date_sub(:biz_date, 1)
WHERE a.dt = :biz_date;

-- case: cte_and_main_query
-- reads: d_orders = Range -7..0
WITH before AS (SELECT avg(amount) AS usual FROM d_orders WHERE dt BETWEEN date_sub(:biz_date, 7) AND date_sub(:biz_date, 1))
SELECT o.user_id, o.amount / before.usual FROM d_orders AS o CROSS JOIN before WHERE o.dt = :biz_date;

-- case: join_on_the_same_day
-- reads: d_orders = Set 0; d_users = Set 0
SELECT * FROM d_orders AS o JOIN d_users AS u ON u.user_id = o.user_id AND u.dt = o.dt WHERE o.dt = :biz_date;

-- case: join_of_hours
-- down: hour
-- reads: h_clicks = Set 0; h_orders = Set 0
SELECT * FROM h_clicks AS c JOIN h_orders AS o ON c.dt = o.dt AND c.hour = o.hour
WHERE o.dt = :biz_date AND o.hour = :biz_hour;

-- case: join_using
-- reads: d_orders = Set 0; d_users = Set 0
SELECT * FROM d_orders JOIN d_users USING (dt, user_id) WHERE dt = :biz_date;

-- case: join_the_day_before_each
-- reads: d_orders = Set 0; d_users = Set -1
SELECT * FROM d_orders AS o JOIN d_users AS u ON u.dt = date_sub(o.dt, 1) WHERE o.dt = :biz_date;

-- case: join_window_of_each_day
-- reads: d_orders = Set -1,0; d_clicks = Range -7..0
SELECT * FROM d_orders AS o JOIN d_clicks AS c ON c.dt BETWEEN date_sub(o.dt, 6) AND o.dt
WHERE o.dt IN (:biz_date, date_sub(:biz_date, 1));

-- case: left_join_filter_on_the_left_side_does_not_filter
-- reads: d_orders = undecidable; d_users = Set 0
SELECT * FROM d_orders AS o LEFT JOIN d_users AS u ON u.user_id = o.user_id AND u.dt = :biz_date AND o.dt = :biz_date;

-- case: left_join_filter_on_the_right_side
-- reads: d_orders = Set 0; d_users = Set -1
SELECT * FROM d_orders AS o LEFT JOIN d_users AS u ON u.user_id = o.user_id AND u.dt = date_sub(:biz_date, 1)
WHERE o.dt = :biz_date;

-- case: left_join_filtered_above
-- reads: d_orders = Set 0; d_users = Set 0
SELECT * FROM d_orders AS o LEFT JOIN d_users AS u ON u.user_id = o.user_id
WHERE o.dt = :biz_date AND u.dt = :biz_date;

-- case: left_join_anti_pattern
-- reads: d_orders = Set 0; d_users = undecidable
SELECT * FROM d_orders AS o LEFT JOIN d_users AS u ON u.user_id = o.user_id
WHERE o.dt = :biz_date AND (u.dt = :biz_date OR u.dt IS NULL);

-- case: left_join_anti_pattern_bounded
-- reads: d_orders = Set 0; d_users = Set -1
SELECT o.* FROM d_orders AS o LEFT JOIN d_users AS u ON u.user_id = o.user_id AND u.dt = date_sub(:biz_date, 1)
WHERE o.dt = :biz_date AND u.user_id IS NULL;

-- case: left_join_coalesced
-- reads: d_orders = Set 0; d_users = undecidable
SELECT * FROM d_orders AS o LEFT JOIN d_users AS u ON u.user_id = o.user_id
WHERE o.dt = :biz_date AND coalesce(u.dt, :biz_date) = :biz_date;

-- case: right_join
-- reads: d_orders = Set -1; d_users = Set 0
SELECT * FROM d_orders AS o RIGHT JOIN d_users AS u ON u.user_id = o.user_id AND o.dt = date_sub(:biz_date, 1)
WHERE u.dt = :biz_date;

-- case: full_join_of_filtered
-- reads: d_orders = Set 0; d_users = Set -1
SELECT * FROM (SELECT * FROM d_orders WHERE dt = :biz_date) AS o
FULL OUTER JOIN (SELECT * FROM d_users WHERE dt = date_sub(:biz_date, 1)) AS u ON u.user_id = o.user_id;

-- case: full_join_filter_in_on
-- reads: d_orders = undecidable; d_users = undecidable
SELECT * FROM d_orders AS o FULL OUTER JOIN d_users AS u
  ON u.user_id = o.user_id AND u.dt = :biz_date AND o.dt = :biz_date;

-- case: semi_join
-- reads: d_orders = Set 0; d_users = Set -1
SELECT * FROM d_orders AS o LEFT SEMI JOIN d_users AS u ON u.user_id = o.user_id AND u.dt = date_sub(:biz_date, 1)
WHERE o.dt = :biz_date;

-- case: semi_join_restricts_the_left
-- reads: d_orders = Set -1; d_users = Set -1
SELECT * FROM d_orders AS o LEFT SEMI JOIN d_users AS u ON u.dt = o.dt AND u.dt = date_sub(:biz_date, 1);

-- case: anti_join_does_not_restrict_the_left
-- reads: d_orders = undecidable; d_users = Set -1
SELECT * FROM d_orders AS o LEFT ANTI JOIN d_users AS u ON u.dt = o.dt AND u.dt = date_sub(:biz_date, 1);

-- case: union_of_two
-- reads: d_orders = Set 0; d_clicks = Set -1
SELECT user_id FROM d_orders WHERE dt = :biz_date UNION ALL SELECT user_id FROM d_clicks WHERE dt = date_sub(:biz_date, 1);

-- case: union_filtered_outside
-- reads: d_orders = Set -1,0; d_clicks = Set -2,-1
SELECT user_id, d FROM (
  SELECT user_id, dt AS d FROM d_orders UNION SELECT user_id, date_add(dt, 1) FROM d_clicks
) WHERE d BETWEEN date_sub(:biz_date, 1) AND :biz_date;

-- case: union_of_stars_filtered_outside
-- reads: d_orders = Set 0; d_clicks = Set 0
SELECT * FROM (SELECT * FROM d_orders UNION ALL SELECT * FROM d_clicks) WHERE dt = :biz_date;

-- case: union_branch_chosen_by_a_constant
-- reads: d_orders = Set 0; d_clicks = Set -1
SELECT * FROM (
  SELECT dt, user_id, 'orders' AS kind FROM d_orders UNION ALL SELECT dt, user_id, 'clicks' FROM d_clicks
) WHERE kind = 'orders' AND dt = :biz_date OR kind = 'clicks' AND dt = date_sub(:biz_date, 1);

-- case: except_and_intersect
-- reads: d_orders = Set 0; d_clicks = Set -1; d_users = Set 0
SELECT user_id FROM d_orders WHERE dt = :biz_date
EXCEPT SELECT user_id FROM d_clicks WHERE dt = date_sub(:biz_date, 1)
INTERSECT SELECT user_id FROM d_users WHERE dt = :biz_date;

-- case: scalar_sub_query
-- reads: d_orders = Set 0; d_users = Range -6..0
SELECT (SELECT count(*) FROM d_users WHERE dt BETWEEN date_sub(:biz_date, 6) AND :biz_date) AS users, count(*) AS orders
FROM d_orders WHERE dt = :biz_date;

-- case: exists_correlated
-- reads: d_orders = Set 0; d_users = Set 0
SELECT * FROM d_orders AS o
WHERE o.dt = :biz_date AND EXISTS (SELECT 1 FROM d_users AS u WHERE u.user_id = o.user_id AND u.dt = o.dt);

-- case: not_exists_correlated
-- reads: d_orders = Set 0; d_users = Set -1
SELECT * FROM d_orders AS o
WHERE o.dt = :biz_date
  AND NOT EXISTS (SELECT 1 FROM d_users AS u WHERE u.user_id = o.user_id AND u.dt = date_sub(o.dt, 1));

-- case: exists_binds_the_outside
-- reads: d_orders = Set 0; d_calendar = Set 0
SELECT * FROM d_orders AS o WHERE EXISTS (SELECT 1 FROM d_calendar AS c WHERE c.dt = o.dt AND c.dt = :biz_date);

-- case: exists_in_an_or_binds_nothing
-- reads: d_orders = undecidable; d_users = undecidable
SELECT * FROM d_orders AS o
WHERE o.dt = :biz_date OR EXISTS (SELECT 1 FROM d_users AS u WHERE u.dt = o.dt);

-- case: in_sub_query
-- reads: d_orders = Set 0; d_users = Set -1
SELECT * FROM d_orders
WHERE dt = :biz_date AND user_id IN (SELECT user_id FROM d_users WHERE dt = date_sub(:biz_date, 1));

-- case: dates_in_sub_query
-- reads: d_orders = Range -6..0; d_calendar = Range -6..0
SELECT * FROM d_orders
WHERE dt IN (SELECT dt FROM d_calendar WHERE dt BETWEEN date_sub(:biz_date, 6) AND :biz_date AND is_open);

-- case: dates_not_in_sub_query
-- reads: d_orders = undecidable; d_calendar = Set 0
SELECT * FROM d_orders WHERE dt NOT IN (SELECT dt FROM d_calendar WHERE dt = :biz_date);

-- case: newest_there_is
-- reads: d_orders = Set 0; d_rates = undecidable
SELECT * FROM d_orders AS o JOIN d_rates AS r ON r.dt = (SELECT max(dt) FROM d_rates) WHERE o.dt = :biz_date;

-- case: window_in_the_query
-- reads: d_orders = Range -6..0
SELECT user_id, sum(amount) OVER (PARTITION BY user_id ORDER BY dt ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS week
FROM d_orders WHERE dt BETWEEN date_sub(:biz_date, 6) AND :biz_date;

-- case: filter_above_a_window_does_not_filter_below
-- reads: d_orders = undecidable
SELECT * FROM (SELECT dt, user_id, lag(amount) OVER (PARTITION BY user_id ORDER BY dt) AS earlier FROM d_orders)
WHERE dt = :biz_date;

-- case: filter_above_a_window_partitioned_by_day
-- reads: d_orders = Set 0
SELECT * FROM (SELECT dt, user_id, row_number() OVER (PARTITION BY dt, user_id ORDER BY amount DESC) AS n FROM d_orders)
WHERE dt = :biz_date AND n = 1;

-- case: qualify
-- reads: d_orders = Set 0
SELECT * FROM d_orders WHERE dt = :biz_date QUALIFY row_number() OVER (PARTITION BY user_id ORDER BY amount DESC) = 1;

-- case: qualify_does_not_filter_rows_of_the_window
-- reads: d_orders = undecidable
SELECT * FROM d_orders QUALIFY row_number() OVER (PARTITION BY user_id ORDER BY dt DESC) = 1 AND dt = :biz_date;

-- case: filter_above_a_limit
-- reads: d_orders = undecidable
SELECT * FROM (SELECT dt, amount FROM d_orders ORDER BY amount DESC LIMIT 10) WHERE dt = :biz_date;

-- case: having_on_the_key
-- reads: d_orders = Set 0
SELECT dt, sum(amount) AS amount FROM d_orders GROUP BY dt HAVING dt = :biz_date AND sum(amount) > 0;

-- case: rollup_keeps_everything
-- reads: d_orders = undecidable
SELECT * FROM (SELECT dt, city, sum(amount) AS amount FROM d_orders GROUP BY dt, city WITH ROLLUP) WHERE dt = :biz_date;

-- case: rollup_filtered_below
-- reads: d_orders = Set 0
SELECT city, sum(amount) AS amount FROM d_orders WHERE dt = :biz_date GROUP BY ROLLUP (city);

-- case: lateral_view
-- reads: d_orders = Set 0
SELECT user_id, item FROM d_orders LATERAL VIEW explode(items) i AS item WHERE dt = :biz_date AND item <> '';

-- case: lateral_sub_query
-- reads: d_users = Set 0; d_orders = Range -29..0
SELECT u.user_id, recent.amount
FROM d_users AS u, LATERAL (
  SELECT sum(o.amount) AS amount FROM d_orders AS o
  WHERE o.user_id = u.user_id AND o.dt BETWEEN date_sub(u.dt, 29) AND u.dt
) AS recent
WHERE u.dt = :biz_date;

-- case: distinct
-- reads: d_orders = Set 0
SELECT DISTINCT user_id FROM (SELECT DISTINCT user_id, dt FROM d_orders) WHERE dt = :biz_date;

-- case: derived_day
-- reads: d_orders = Set -1
SELECT * FROM (SELECT user_id, date_add(dt, 1) AS day FROM d_orders) WHERE day = :biz_date;

-- case: bracketed_join
-- reads: d_orders = Set 0; d_users = Set 0; d_clicks = Set -1
SELECT * FROM (d_orders AS o JOIN d_users AS u ON u.dt = o.dt)
LEFT JOIN d_clicks AS c ON c.dt = date_sub(o.dt, 1) WHERE o.dt = :biz_date;

-- case: a_view
-- reads: d_orders = Set 0; d_users = Set 0
SELECT * FROM v_paid WHERE dt = :biz_date;

-- case: natural_join
-- reads: d_orders = Set 0; d_users = Set 0
SELECT * FROM d_orders NATURAL JOIN d_users WHERE d_orders.dt = :biz_date;

-- case: comma_join
-- reads: d_orders = Set 0; d_users = Set -1
SELECT * FROM d_orders o, d_users u WHERE o.user_id = u.user_id AND o.dt = :biz_date AND u.dt = date_sub(o.dt, 1);

-- case: recursive_cte
-- reads: d_orders = Set 0
WITH RECURSIVE tree AS (
  SELECT user_id, parent_id FROM d_orders WHERE dt = :biz_date AND parent_id IS NULL
  UNION ALL
  SELECT o.user_id, o.parent_id FROM d_orders AS o JOIN tree ON tree.user_id = o.parent_id WHERE o.dt = :biz_date
) SELECT * FROM tree;

-- case: contradiction
-- reads: d_orders = undecidable
SELECT * FROM d_orders WHERE dt = :biz_date AND dt = date_sub(:biz_date, 1);

-- case: window_beside_every_column_filtered_outside
-- reads: d_orders = Set 0
SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY dt, user_id ORDER BY amount DESC) AS rn FROM d_orders) AS o
WHERE dt = :biz_date AND rn = 1;

-- case: named_window_beside_every_column_filtered_outside
-- reads: d_orders = Set 0
SELECT * FROM (SELECT *, sum(amount) OVER w AS paid FROM d_orders WINDOW w AS (PARTITION BY dt, user_id ORDER BY ts)) AS o
WHERE dt = :biz_date;

-- case: window_of_a_join_beside_every_column
-- reads: d_orders = Set 0; d_users = Set 0
SELECT * FROM (
  SELECT o.*, row_number() OVER (PARTITION BY o.dt, o.user_id ORDER BY amount DESC) AS rn
  FROM d_orders AS o LEFT JOIN d_users AS u ON u.dt = o.dt AND u.user_id = o.user_id
) AS o WHERE dt = :biz_date AND rn = 1;

-- case: window_over_days_beside_every_column
-- reads: d_orders = undecidable: no condition bounds its partition columns at both ends: the one that speaks of them stands above a window
SELECT * FROM (SELECT *, lag(amount) OVER (PARTITION BY user_id ORDER BY dt) AS before FROM d_orders) AS o
WHERE dt = :biz_date;

-- case: two_windows_and_only_one_by_the_day
-- reads: d_orders = undecidable
SELECT * FROM (
  SELECT *, sum(amount) OVER (PARTITION BY dt) AS of_day, sum(amount) OVER (PARTITION BY user_id) AS of_user FROM d_orders
) AS o WHERE dt = :biz_date;

-- case: grouping_sets_that_all_hold_the_day
-- reads: d_orders = Set 0
SELECT * FROM (
  SELECT dt, shop, item, sum(amount) FROM d_orders GROUP BY dt, shop, item GROUPING SETS ((dt, shop), (dt, item), dt)
) AS o WHERE dt = :biz_date;

-- case: grouping_sets_one_of_which_is_of_all_days
-- reads: d_orders = undecidable: no condition bounds its partition columns at both ends: the one that speaks of them stands above GROUP BY
SELECT * FROM (
  SELECT dt, shop, sum(amount) FROM d_orders GROUP BY dt, shop GROUPING SETS ((dt, shop), (shop))
) AS o WHERE dt = :biz_date;

-- case: rollup_within_the_day
-- reads: d_orders = Set -1
SELECT * FROM (SELECT dt, shop, item, sum(amount) FROM d_orders GROUP BY dt, ROLLUP (shop, item)) AS o
WHERE dt = date_sub(:biz_date, 1);

-- case: rollup_of_the_day
-- reads: d_orders = undecidable
SELECT * FROM (SELECT dt, shop, sum(amount) FROM d_orders GROUP BY ROLLUP (dt, shop)) AS o WHERE dt = :biz_date;

-- case: cube_of_hive
-- reads: d_orders = undecidable
SELECT * FROM (SELECT dt, shop, sum(amount) FROM d_orders GROUP BY dt, shop WITH CUBE) AS o WHERE dt = :biz_date;

-- case: having_of_a_cube_within_the_day
-- reads: d_orders = Set 0
SELECT dt, shop, item, sum(amount) FROM d_orders GROUP BY dt, CUBE (shop, item) HAVING dt = :biz_date;

-- case: having_of_a_cube_of_the_day
-- reads: d_orders = undecidable
SELECT dt, shop, sum(amount) FROM d_orders GROUP BY CUBE (dt, shop) HAVING dt = :biz_date;

-- case: sampled_before_the_filter
-- reads: d_orders = undecidable: no condition bounds its partition columns at both ends: the one that speaks of them stands above TABLESAMPLE
SELECT * FROM d_orders TABLESAMPLE (10 PERCENT) WHERE dt = :biz_date;

-- case: limited_before_the_filter
-- reads: d_orders = undecidable: no condition bounds its partition columns at both ends: the one that speaks of them stands above LIMIT
SELECT * FROM (SELECT * FROM d_orders LIMIT 10) AS o WHERE dt = :biz_date;

-- case: several_columns_in_a_query
-- reads: h_clicks = Range 3..5; h_orders = Range 3..5
SELECT * FROM h_clicks
WHERE (dt, hour) IN (SELECT dt, hour FROM h_orders WHERE dt = :biz_date AND hour BETWEEN '03' AND '05');

-- case: several_columns_not_in_a_query
-- reads: d_orders = Set 0; d_users = Set 0
SELECT * FROM d_orders WHERE dt = :biz_date AND (dt, user_id) NOT IN (SELECT dt, user_id FROM d_users);

-- case: the_day_in_a_query_without_a_filter
-- reads: d_orders = Set 0; d_users = Set 0
SELECT * FROM d_orders WHERE dt = :biz_date AND dt IN (SELECT dt FROM d_users GROUP BY dt HAVING count(*) > 5);

-- case: the_day_in_a_limited_query
-- reads: d_orders = Set 0; d_users = undecidable
SELECT * FROM d_orders WHERE dt = :biz_date AND dt IN (SELECT dt FROM d_users LIMIT 5);

-- case: made_up_day_not_in_a_query
-- reads: d_orders = Set 0; d_users = Set 0; d_clicks = undecidable
SELECT * FROM d_orders AS o LEFT JOIN d_users AS u ON u.dt = o.dt
WHERE o.dt = :biz_date AND u.dt NOT IN (SELECT dt FROM d_clicks);

-- case: latest_row_of_each_user_to_date
-- reads: d_orders = since start
SELECT * FROM (
  SELECT *, row_number() OVER (PARTITION BY user_id ORDER BY dt DESC) AS rn FROM d_orders WHERE dt <= :biz_date
) AS o WHERE rn = 1;

-- case: latest_row_of_each_user_by_qualify
-- reads: d_orders = since start
SELECT * FROM d_orders WHERE dt <= :biz_date QUALIFY row_number() OVER (PARTITION BY user_id ORDER BY dt DESC) = 1;

-- case: the_window_that_hides_the_day_is_named
-- reads: d_orders = undecidable: no condition bounds its partition columns at both ends: the one that speaks of them stands above a window that is not partitioned by them (structure-the_window_that_hides_the_day_is_named.sql:4:5)
SELECT * FROM (
  SELECT user_id, dt,
    row_number() OVER (PARTITION BY dt ORDER BY ts) AS rn,
    lead(amount) OVER (PARTITION BY user_id ORDER BY dt) AS next
  FROM d_orders
) AS o WHERE dt = :biz_date AND rn = 1;

-- case: exists_of_a_total_is_always_true
-- reads: d_users = undecidable; d_orders = Set 0
SELECT count(*) FROM d_users AS u
WHERE EXISTS (SELECT sum(amount) FROM d_orders AS o WHERE o.dt = u.dt AND o.dt = :biz_date);

-- case: exists_of_a_total_that_the_parser_does_not_know
-- reads: d_users = undecidable; d_orders = Set 0
SELECT count(*) FROM d_users AS u
WHERE EXISTS (SELECT try_sum(amount) FROM d_orders AS o WHERE o.dt = u.dt AND o.dt = :biz_date);

-- case: exists_of_a_function_of_a_user_that_may_be_a_total
-- reads: d_users = undecidable; d_orders = Set 0
SELECT count(*) FROM d_users AS u
WHERE EXISTS (SELECT our_total(amount) FROM d_orders AS o WHERE o.dt = u.dt AND o.dt = :biz_date);

-- case: exists_of_any_and_every
-- reads: d_users = undecidable; d_orders = Set 0
SELECT count(*) FROM d_users AS u
WHERE EXISTS (SELECT any(amount > 1), every(amount > 2) FROM d_orders AS o WHERE o.dt = u.dt AND o.dt = :biz_date);

-- case: exists_with_having_alone
-- reads: d_users = undecidable; d_orders = Set 0
SELECT count(*) FROM d_users AS u
WHERE EXISTS (SELECT 1 FROM d_orders AS o WHERE o.dt = u.dt AND o.dt = :biz_date HAVING true);

-- case: exists_grouped_by_all
-- reads: d_users = undecidable; d_orders = Set 0
SELECT count(*) FROM d_users AS u
WHERE EXISTS (SELECT max(amount) FROM d_orders AS o WHERE o.dt = u.dt AND o.dt = :biz_date GROUP BY ALL);

-- case: in_a_total
-- reads: d_users = undecidable; d_orders = Set 0
SELECT * FROM d_users AS u
WHERE 0 IN (SELECT coalesce(try_sum(o.amount), 0) FROM d_orders AS o WHERE o.dt = u.dt AND o.dt = :biz_date);

-- case: exists_of_groups
-- reads: d_users = Set 0; d_orders = Set 0
SELECT count(*) FROM d_users AS u
WHERE EXISTS (SELECT o.user_id, max(amount) FROM d_orders AS o WHERE o.dt = u.dt AND o.dt = :biz_date GROUP BY o.user_id);
