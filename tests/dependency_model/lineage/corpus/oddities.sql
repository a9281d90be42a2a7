-- case: correlated_sum_of_a_window
-- reads: d_orders = Set 0; d_clicks = Range -2..0
SELECT o.user_id,
  (SELECT sum(c.x) FROM d_clicks AS c WHERE c.user_id = o.user_id AND c.dt >= date_sub(:biz_date, 2) AND c.dt <= :biz_date) AS s
FROM d_orders AS o WHERE o.dt = :biz_date;

-- case: correlated_exists_with_or
-- reads: d_orders = Set 0; d_users = Set -7,0
SELECT o.user_id, o.x FROM d_orders AS o WHERE o.dt = :biz_date AND EXISTS (
  SELECT 1 FROM d_users AS u WHERE u.user_id = o.user_id AND u.x > 0 AND (u.dt = :biz_date OR u.dt = date_sub(:biz_date, 7)));

-- case: not_exists_in_not_exists
-- reads: d_orders = Set 0; d_users = Set 0; d_clicks = Set -1
SELECT o.user_id, o.x FROM d_orders AS o WHERE o.dt = :biz_date AND NOT EXISTS (
  SELECT 1 FROM d_users AS u WHERE u.user_id = o.user_id AND u.dt = o.dt AND NOT EXISTS (
    SELECT 1 FROM d_clicks AS c WHERE c.user_id = u.user_id AND c.dt = date_sub(u.dt, 1)));

-- case: trunc_to_the_hour
-- reads: d_orders = Set 0
SELECT user_id, x FROM d_orders WHERE date_trunc('HOUR', dt) = date_trunc('DAY', :biz_date);

-- case: trunc_after_ninety_minutes
-- reads: d_orders = Set 0
SELECT user_id, x FROM d_orders WHERE dt = date_trunc('DAY', :period_start + INTERVAL 90 MINUTES);

-- case: trunc_of_both_to_the_quarter
-- reads: d_orders = to_date quarter
SELECT user_id, sum(x) AS x FROM d_orders
WHERE date_trunc('quarter', dt) = date_trunc('quarter', :biz_date) AND dt <= :biz_date GROUP BY user_id;

-- case: week_so_far_without_today
-- reads: d_orders = undecidable: no offset
SELECT user_id, sum(x) AS x FROM d_orders
WHERE date_trunc('WEEK', dt) = date_trunc('WEEK', :biz_date) AND dt < :biz_date GROUP BY user_id;

-- case: trunc_to_a_unit_that_there_is_not
-- reads: d_orders = undecidable
SELECT user_id, x FROM d_orders WHERE date_trunc('DECADE', dt) = date_trunc('DECADE', :biz_date);

-- case: trunc_of_a_date_to_the_day_is_null
-- reads: d_orders = undecidable
SELECT user_id, x FROM d_orders WHERE trunc(dt, 'DD') = :biz_date OR trunc(dt, 'DD') IS NULL AND dt = date_sub(:biz_date, 1);

-- case: qualify_over_a_stretch
-- reads: d_orders = Range -2..0
SELECT user_id, x, dt FROM d_orders WHERE dt BETWEEN date_sub(:biz_date, 2) AND :biz_date
QUALIFY rank() OVER (PARTITION BY user_id ORDER BY dt DESC) = 1;

-- case: qualify_by_its_own_key
-- reads: d_orders = Set 0
SELECT user_id, dt, x FROM d_orders QUALIFY sum(x) OVER (PARTITION BY dt) > 0 AND dt = :biz_date;

-- case: qualify_hides_other_days
-- reads: d_orders = undecidable
SELECT user_id, x FROM d_orders QUALIFY rank() OVER (PARTITION BY user_id ORDER BY dt) = 1 AND dt = :biz_date;

-- case: lateral_view_of_figures
-- reads: d_orders = Set 0
SELECT o.user_id, e.k FROM d_orders AS o LATERAL VIEW explode(array(o.x, o.user_id)) e AS k WHERE o.dt = :biz_date AND e.k > 0;

-- case: lateral_view_of_days
-- reads: d_orders = Set -1,0
SELECT o.user_id, o.x FROM d_orders AS o LATERAL VIEW explode(array(o.dt, date_add(o.dt, 1))) e AS d
WHERE e.d = :biz_date AND o.dt BETWEEN date_sub(:biz_date, 9) AND :biz_date;

-- case: lateral_query
-- reads: d_orders = Set 0; d_clicks = Set -1
SELECT o.user_id, l.m FROM d_orders AS o,
  LATERAL (SELECT max(c.x) AS m FROM d_clicks AS c WHERE c.user_id = o.user_id AND c.dt = date_sub(:biz_date, 1)) AS l
WHERE o.dt = :biz_date;

-- case: full_join_filtered_by_either
-- reads: d_orders = Set 0; d_users = Set 0
SELECT o.x, u.x AS y FROM d_orders AS o FULL OUTER JOIN d_users AS u ON u.user_id = o.user_id AND u.dt = o.dt
WHERE coalesce(o.dt, u.dt) = :biz_date;

-- case: full_join_filtered_by_one
-- reads: d_orders = Set 0; d_users = undecidable
SELECT o.x, u.x AS y FROM d_orders AS o FULL OUTER JOIN d_users AS u ON u.user_id = o.user_id AND u.dt = date_sub(o.dt, 1)
WHERE o.dt = :biz_date;

-- case: full_join_decided_by_on_alone
-- reads: d_orders = undecidable; d_users = undecidable
SELECT count(o.x) AS a, count(u.x) AS b FROM d_orders AS o FULL OUTER JOIN d_users AS u
  ON u.user_id = o.user_id AND u.dt = :biz_date AND o.dt = :biz_date;

-- case: or_across_tables
-- reads: d_orders = Set -1,0; d_users = Set -3,0
SELECT o.user_id, u.x FROM d_orders AS o JOIN d_users AS u ON u.user_id = o.user_id
WHERE o.dt = :biz_date AND u.dt = :biz_date OR o.dt = date_sub(:biz_date, 1) AND u.dt = date_sub(:biz_date, 3);

-- case: or_across_tables_binds_neither
-- reads: d_orders = undecidable; d_users = undecidable
SELECT count(*) AS n FROM d_orders AS o JOIN d_users AS u ON u.user_id = o.user_id AND u.dt = o.dt
WHERE o.dt = :biz_date OR u.x = 1;

-- case: between_with_its_ends_swapped
-- reads: d_orders = undecidable: its conditions are never true
SELECT user_id, x FROM d_orders WHERE dt BETWEEN :biz_date AND date_sub(:biz_date, 3);

-- case: between_swapped_beside_a_day
-- reads: d_orders = Set 0
SELECT user_id, x FROM d_orders WHERE dt = :biz_date OR dt BETWEEN :biz_date AND date_sub(:biz_date, 3);

-- case: not_between_swapped_is_always_true
-- reads: d_orders = undecidable: no condition bounds
SELECT count(*) AS n FROM d_orders WHERE dt NOT BETWEEN :biz_date AND date_sub(:biz_date, 3);

-- case: nullif_of_the_partition
-- reads: d_orders = Set -2,0
SELECT user_id, x FROM d_orders WHERE nullif(dt, date_sub(:biz_date, 1)) BETWEEN date_sub(:biz_date, 2) AND :biz_date;

-- case: in_list_with_null
-- reads: d_orders = Set 0
SELECT user_id, x FROM d_orders WHERE dt IN (:biz_date, NULL);

-- case: not_in_list_with_null_is_never_true
-- reads: d_orders = undecidable: its conditions are never true
SELECT user_id, x FROM d_orders
WHERE dt BETWEEN date_sub(:biz_date, 3) AND :biz_date AND dt NOT IN (date_sub(:biz_date, 1), NULL);

-- case: null_safe_join
-- reads: d_orders = Set 0; d_users = Set 0
SELECT o.user_id, u.x FROM d_orders AS o LEFT JOIN d_users AS u ON u.user_id = o.user_id AND u.dt <=> o.dt
WHERE o.dt <=> :biz_date;

-- case: null_safe_equality_of_two_conditions
-- reads: d_orders = Set 0; d_users = undecidable
SELECT o.user_id, o.x FROM d_orders AS o LEFT JOIN d_users AS u ON u.user_id = o.user_id
WHERE o.dt = :biz_date AND (u.dt = :biz_date OR u.dt IS NULL AND (u.dt = :biz_date) <=> (u.dt = date_sub(:biz_date, 1)));

-- case: joined_texts_leave_nulls_out
-- reads: d_orders = Set 0; d_users = undecidable
SELECT o.user_id, o.x FROM d_orders AS o LEFT JOIN d_users AS u ON u.user_id = o.user_id
WHERE o.dt = :biz_date AND (u.dt = :biz_date OR concat_ws('', cast(:biz_date AS STRING), cast(u.dt AS STRING)) = cast(:biz_date AS STRING));

-- case: except_of_moved_days
-- reads: d_orders = Set 0; d_clicks = Set -1
SELECT user_id FROM (SELECT user_id, dt FROM d_orders EXCEPT SELECT user_id, date_add(dt, 1) FROM d_clicks) WHERE dt = :biz_date;

-- case: except_all_of_a_union
-- reads: d_orders = Set 0; d_clicks = Set 0; d_users = Set -2
SELECT user_id, x FROM (
  (SELECT user_id, x, dt FROM d_orders UNION ALL SELECT user_id, x, dt FROM d_clicks)
  EXCEPT ALL SELECT user_id, x, date_add(dt, 2) FROM d_users
) WHERE dt = :biz_date;

-- case: intersect_all_within_except
-- reads: d_orders = Set 0; d_clicks = Set 0; d_users = Set 0
SELECT user_id FROM (
  SELECT user_id, dt FROM d_orders EXCEPT (SELECT user_id, dt FROM d_clicks INTERSECT ALL SELECT user_id, dt FROM d_users)
) WHERE dt = :biz_date;

-- case: case_moves_the_partition
-- reads: d_orders = Set -1,0
SELECT user_id, x FROM d_orders WHERE CASE WHEN x > 0 THEN dt ELSE date_add(dt, 1) END = :biz_date;

-- case: case_without_else
-- reads: d_orders = Set 0
SELECT user_id, x FROM d_orders WHERE CASE WHEN dt = :biz_date THEN x END > 0;

-- case: case_of_values
-- reads: d_orders = Set -4,0
SELECT user_id, x FROM d_orders WHERE CASE dt WHEN :biz_date THEN 1 WHEN date_sub(:biz_date, 4) THEN 1 ELSE 0 END = 1;

-- case: case_on_the_day_of_the_week
-- reads: d_orders = undecidable: no offset
SELECT user_id, x FROM d_orders
WHERE dt = CASE WHEN dayofweek(:biz_date) = 2 THEN date_sub(:biz_date, 3) ELSE date_sub(:biz_date, 1) END;

-- case: cast_to_text_and_back
-- reads: d_orders = Set 0
SELECT user_id, x FROM d_orders WHERE cast(concat(cast(dt AS STRING), ' 00:00:00') AS TIMESTAMP) = :period_start;

-- case: cast_of_a_month_to_its_31st
-- reads: d_orders = undecidable
SELECT user_id, x FROM d_orders
WHERE coalesce(try_cast(concat(substring(cast(dt AS STRING), 1, 8), '31') AS DATE), :biz_date) = :biz_date;

-- case: pattern_with_a_quarter
-- reads: d_orders = undecidable: the pattern
SELECT user_id, x FROM d_orders
WHERE dt BETWEEN date_sub(:biz_date, 9) AND :biz_date AND date_format(dt, 'yyyyQ') = date_format(:biz_date, 'yyyyQ');

-- case: hours_at_night
-- reads: h_clicks = Set 0,1,2,3,4,5,22,23
SELECT user_id, x FROM h_clicks WHERE dt = :biz_date AND substring(hour, 1, 2) NOT BETWEEN '06' AND '21';

-- case: text_hour_that_autumn_repeats
-- reads: h_clicks = Set 2 of day -6..0 once
SELECT user_id, x FROM h_clicks WHERE dt BETWEEN date_sub(:biz_date, 6) AND :biz_date AND hour = '02';

-- case: text_hours_up_to_the_repeated_one
-- reads: h_clicks = Range 0..2 of day -1 once
SELECT user_id, x FROM h_clicks WHERE dt = date_sub(:biz_date, 1) AND hour <= '02';

-- case: text_hours_around_the_repeated_one
-- reads: h_clicks = Range 1..3 of day -1
SELECT user_id, x FROM h_clicks WHERE dt = date_sub(:biz_date, 1) AND hour BETWEEN '01' AND '03';

-- case: text_hour_after_the_repeated_one
-- reads: h_clicks = Set -21
SELECT user_id, x FROM h_clicks WHERE dt = date_sub(:biz_date, 1) AND hour = '03';

-- case: text_hours_from_two_to_two
-- reads: h_clicks = Range 2..23 of day -1 and Set 0,1
SELECT user_id, x FROM h_clicks
WHERE dt = date_sub(:biz_date, 1) AND hour >= '02' OR dt = :biz_date AND hour < '02';

-- case: text_hours_from_four_to_four_of_three_days
-- reads: h_clicks = Range 4..23 of day -3 and all day -2,-1 and Range 0..3
SELECT user_id, x FROM h_clicks
WHERE dt = date_sub(:biz_date, 3) AND hour >= '04' OR dt > date_sub(:biz_date, 3) AND dt < :biz_date OR dt = :biz_date AND hour < '04';

-- case: hour_from_a_padded_number
-- reads: h_clicks = Set 6
SELECT user_id, x FROM h_clicks WHERE dt = :biz_date AND hour = lpad('6', 2, '0');

-- case: hours_of_both_sides_of_midnight
-- reads: h_clicks = Range -3..3
SELECT user_id, x FROM h_clicks
WHERE dt = date_sub(:biz_date, 1) AND hour >= '21' OR dt = :biz_date AND hour < '04';

-- case: stacked_ctes_that_move_days
-- reads: d_orders = Set -1
WITH a AS (SELECT *, date_add(dt, 1) AS next FROM d_orders),
b AS (SELECT user_id, next, x FROM a WHERE x IS NOT NULL),
c AS (SELECT user_id, next AS d, sum(x) AS x FROM b GROUP BY user_id, next)
SELECT user_id, x FROM c WHERE d = :biz_date;

-- case: view_joined_to_a_view
-- reads: d_orders = Set -1,0; d_users = Set -1,0
SELECT a.user_id FROM v_paid AS a JOIN v_paid AS b ON b.user_id = a.user_id AND b.dt = date_sub(a.dt, 1) WHERE a.dt = :biz_date;

-- case: having_means_the_alias
-- reads: d_orders = undecidable: dt is a table's column
SELECT user_id, max(dt) AS dt FROM d_orders GROUP BY user_id HAVING dt = :biz_date;

-- case: having_on_a_key
-- reads: d_orders = Set 0
SELECT user_id, dt, sum(x) AS x FROM d_orders GROUP BY user_id, dt HAVING dt = :biz_date AND count(*) > 0;

-- case: rollup_makes_keys_null
-- reads: d_orders = undecidable
SELECT dt, sum(x) AS x FROM d_orders GROUP BY ROLLUP (dt) HAVING dt = :biz_date OR dt IS NULL;

-- case: filter_of_an_aggregate
-- reads: d_orders = undecidable: no condition bounds
SELECT user_id, sum(x) FILTER (WHERE dt = :biz_date) AS x FROM d_orders GROUP BY user_id;

-- case: months_there_and_back
-- reads: d_orders = undecidable: no offset names the slices that it reads at every business time: Set 0 does, but at 2024-01-30 it reads 2024-01-29
SELECT user_id, x FROM d_orders WHERE dt = add_months(add_months(:biz_date, 1), -1);

-- case: a_month_back_by_interval
-- reads: d_orders = undecidable: no offset
SELECT user_id, x FROM d_orders WHERE dt > :biz_date - INTERVAL 1 MONTH AND dt <= :biz_date;

-- case: five_days_before_the_month_ends
-- reads: d_orders = undecidable: no offset
SELECT user_id, x FROM d_orders
WHERE dt = :biz_date OR dt = date_sub(:biz_date, 1) AND date_add(:biz_date, 5) = last_day(:biz_date);

-- case: one_day_far_ahead
-- reads: d_orders = undecidable: no offset
SELECT user_id, x FROM d_orders
WHERE dt = :biz_date OR dt = date_sub(:biz_date, 1) AND date_add(:biz_date, 100) = to_date('20370501', 'yyyyMMdd');

-- case: one_year_far_ahead
-- reads: d_orders = undecidable: no offset
SELECT user_id, x FROM d_orders WHERE dt = :biz_date OR dt = date_sub(:biz_date, 1) AND year(:biz_date) = 2037;

-- case: anti_join_with_itself
-- reads: d_orders = Set -1,0
SELECT o.user_id, o.x FROM d_orders AS o LEFT ANTI JOIN d_orders AS p ON p.user_id = o.user_id AND p.dt = date_sub(o.dt, 1)
WHERE o.dt = :biz_date;

-- case: dates_moved_in_a_sub_query
-- reads: d_orders = Set -1; d_calendar = Set 0
SELECT user_id, x FROM d_orders WHERE dt IN (SELECT date_sub(c.dt, 1) FROM d_calendar AS c WHERE c.dt = :biz_date AND c.x > 0);

-- case: bound_by_a_query_of_constants
-- reads: d_orders = Set -1,0
SELECT user_id, x FROM d_orders WHERE dt >= (SELECT date_sub(:biz_date, 1)) AND dt <= :biz_date;

-- case: joined_to_constants
-- reads: d_orders = Set -7,0
SELECT o.user_id, o.x FROM d_orders AS o JOIN (VALUES (0), (7)) AS v (k) ON o.dt = date_sub(:biz_date, v.k)
WHERE o.dt BETWEEN date_sub(:biz_date, 9) AND :biz_date;

-- case: right_join_then_left_join
-- reads: d_orders = Set 0; d_users = Set 0; d_clicks = Set -1
SELECT o.x, u.x AS y, c.x AS z FROM d_orders AS o
RIGHT JOIN d_users AS u ON u.user_id = o.user_id AND o.dt = u.dt
LEFT JOIN d_clicks AS c ON c.user_id = o.user_id AND c.dt = date_sub(o.dt, 1)
WHERE u.dt = :biz_date;

-- case: difference_in_whole_days
-- reads: d_orders = Set -3
SELECT user_id, x FROM d_orders WHERE datediff(DAY, dt, :biz_date) = 3;

-- case: difference_of_instants_in_whole_days
-- reads: d_orders = Set -4
SELECT user_id, x FROM d_orders WHERE datediff(DAY, cast(dt AS TIMESTAMP) + INTERVAL 12 HOURS, :period_start) = 3;

-- case: ends_by_least_and_greatest
-- reads: d_orders = Range -2..0
SELECT user_id, x FROM d_orders
WHERE dt BETWEEN least(:biz_date, date_sub(:biz_date, 2)) AND greatest(:biz_date, NULL, date_sub(:biz_date, 2));

-- case: instants_of_the_period
-- reads: d_orders = Set -1,0
SELECT user_id, x FROM d_orders WHERE dt >= :period_start - INTERVAL 36 HOURS AND dt < :period_end;

-- case: day_name_of_a_week
-- reads: d_orders = undecidable: the function dayname
SELECT user_id, x FROM d_orders WHERE dt BETWEEN date_sub(:biz_date, 6) AND :biz_date AND dayname(dt) = 'Mon';

-- case: pipes
-- reads: d_orders = Set 0
FROM d_orders |> WHERE dt = :biz_date |> SELECT user_id, x;
