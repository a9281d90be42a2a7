-- Rows made of sequences: date spines, rows spread over days, and steps that leave days out.

-- case: spine_of_seven_days
-- reads: d_orders = Range -6..0
SELECT s.d, count(o.user_id) AS orders
FROM (SELECT explode(sequence(date_sub(:biz_date, 6), :biz_date, INTERVAL 1 DAY)) AS d) AS s
LEFT JOIN d_orders AS o ON o.dt = s.d
GROUP BY s.d;

-- case: spine_without_a_step
-- reads: d_orders = Range -6..0
WITH days AS (SELECT explode(sequence(date_sub(:biz_date, 6), :biz_date)) AS d)
SELECT days.d, sum(o.amount) AS amount FROM days JOIN d_orders AS o ON o.dt = days.d GROUP BY days.d;

-- case: spine_that_falls
-- reads: d_orders = Range -2..0
SELECT * FROM (SELECT explode(sequence(:biz_date, date_sub(:biz_date, 2))) AS d) AS s JOIN d_orders AS o ON o.dt = s.d;

-- case: every_seventh_day
-- reads: d_orders = Set -21,-14,-7,0
SELECT * FROM (SELECT explode(sequence(date_sub(:biz_date, 21), :biz_date, INTERVAL 7 DAYS)) AS d) AS s
JOIN d_orders AS o ON o.dt = s.d;

-- case: a_step_back
-- reads: d_orders = Set -4,-2,0
SELECT * FROM (SELECT explode(sequence(:biz_date, date_sub(:biz_date, 4), INTERVAL -2 DAYS)) AS d) AS s
JOIN d_orders AS o ON o.dt = s.d;

-- case: numbers_as_days
-- reads: d_orders = Range -3..-1
SELECT * FROM d_orders AS o JOIN (SELECT explode(sequence(1, 3)) AS n) AS s ON o.dt = date_sub(:biz_date, s.n);

-- case: numbers_with_a_step
-- reads: d_orders = Set -30,-7,-1
SELECT * FROM d_orders AS o JOIN (SELECT explode(sequence(0, 1)) AS n) AS s
ON o.dt = CASE s.n WHEN 0 THEN date_sub(:biz_date, 1) ELSE date_sub(:biz_date, 7) END OR o.dt = date_sub(:biz_date, 30);

-- case: lateral_view
-- reads: d_users = Set 0; d_orders = Range -2..0
SELECT u.user_id, o.amount
FROM d_users AS u LATERAL VIEW explode(sequence(date_sub(:biz_date, 2), :biz_date)) s AS d
LEFT JOIN d_orders AS o ON o.user_id = u.user_id AND o.dt = d
WHERE u.dt = :biz_date;

-- case: lateral_view_with_places
-- reads: d_users = Set 0
SELECT u.user_id, p, d FROM d_users AS u
LATERAL VIEW OUTER posexplode(sequence(u.dt, date_add(u.dt, 6))) s AS p, d WHERE u.dt = :biz_date AND p < 3;

-- case: a_row_for_each_of_seven_days
-- reads: d_orders = Range -6..0
SELECT e.d, count(DISTINCT o.user_id) AS users
FROM d_orders AS o LATERAL VIEW explode(sequence(o.dt, date_add(o.dt, 6))) e AS d
WHERE e.d = :biz_date GROUP BY e.d;

-- case: table_function
-- reads: d_orders = Set -1,0
SELECT * FROM explode(sequence(date_sub(:biz_date, 1), :biz_date)) AS s(d) JOIN d_orders AS o ON o.dt = s.d;

-- case: in_a_sequence
-- reads: d_orders = Range -2..0
SELECT * FROM d_orders WHERE dt IN (SELECT explode(sequence(date_sub(:biz_date, 2), :biz_date)));

-- case: array_contains
-- reads: d_orders = Range -6..0
SELECT * FROM d_orders WHERE array_contains(sequence(date_sub(:biz_date, 6), :biz_date), dt);

-- case: month_of_days
-- reads: d_orders = to_date month
SELECT s.d, o.amount
FROM (SELECT explode(sequence(trunc(:biz_date, 'MM'), :biz_date, INTERVAL 1 DAY)) AS d) AS s
LEFT JOIN d_orders AS o ON o.dt = s.d;

-- case: hours_of_a_day_but_the_one_that_comes_twice
-- reads: h_clicks = Range 0..23 once
SELECT s.h, c.user_id
FROM (SELECT explode(sequence(0, 23)) AS h) AS s
LEFT JOIN h_clicks AS c ON c.dt = :biz_date AND c.hour = lpad(s.h, 2, '0');

-- case: days_that_the_data_ends
-- reads: d_orders = undecidable; d_users = Set 0
SELECT * FROM d_users AS u LATERAL VIEW explode(sequence(u.registered_on, u.left_on)) e AS d
JOIN d_orders AS o ON o.dt = e.d WHERE u.dt = :biz_date;

-- case: a_row_for_each_day_of_a_subscription
-- reads: d_users = Set 0
SELECT u.user_id, e.d FROM d_users AS u LATERAL VIEW explode(sequence(u.registered_on, u.left_on)) e AS d
WHERE u.dt = :biz_date AND e.d = :biz_date;

-- case: a_step_that_leads_away
-- reads: d_orders = undecidable: sequence
SELECT * FROM (SELECT explode(sequence(date_sub(:biz_date, 6), :biz_date, INTERVAL -1 DAY)) AS d) AS s
JOIN d_orders AS o ON o.dt = s.d;

-- case: not_of_the_sequence
-- reads: d_orders = undecidable
SELECT * FROM d_orders WHERE dt NOT IN (SELECT explode(sequence(date_sub(:biz_date, 2), :biz_date)));

-- case: the_last_of_a_spine
-- reads: d_orders = Set 0
SELECT * FROM (SELECT explode(sequence(date_sub(:biz_date, 6), :biz_date)) AS d) AS s
JOIN d_orders AS o ON o.dt = s.d WHERE o.dt > date_sub(:biz_date, 1);

-- case: days_of_an_array
-- reads: d_orders = Set -7,0
SELECT * FROM d_orders WHERE dt IN (SELECT explode(array(:biz_date, date_sub(:biz_date, 7))));

-- case: steps_of_an_array
-- reads: d_orders = Set -7,-1,0
SELECT o.x, n FROM d_orders AS o LATERAL VIEW explode(array(0, 1, 7)) t AS n WHERE o.dt = date_sub(:biz_date, n);

-- case: steps_of_an_array_that_is_joined
-- reads: d_orders = Set -30,-7,-1
SELECT o.x FROM d_orders AS o JOIN (SELECT explode(array(1, 7, 30)) AS n) AS t ON o.dt = date_sub(:biz_date, t.n);

-- case: an_array_that_contains_the_day
-- reads: d_orders = Set -1,0
SELECT * FROM d_orders WHERE array_contains(array(:biz_date, date_sub(:biz_date, 1)), dt);

-- case: an_array_of_what_the_data_says
-- reads: d_orders = undecidable; d_users = Set 0
SELECT o.x FROM d_orders AS o JOIN (SELECT explode(array(u.n, 1)) AS n FROM d_users AS u WHERE u.dt = :biz_date) AS t
  ON o.dt = date_sub(:biz_date, t.n);

-- case: an_array_with_null
-- reads: d_orders = undecidable: array(0, 1, NULL) is not understood
SELECT o.x FROM d_orders AS o, explode(array(0, 1, NULL)) AS t(n) WHERE o.dt = date_sub(:biz_date, n);

-- case: new_since_the_week_before
-- reads: d_orders = Range -30..0
SELECT user_id FROM d_orders WHERE dt BETWEEN date_sub(:biz_date, 30) AND :biz_date
GROUP BY user_id HAVING min(dt) >= date_sub(:biz_date, 6);

-- case: an_hourly_night_across_midnight
-- reads: h_clicks_utc = undecidable; h_clicks = Range -2..21
SELECT 1 FROM h_clicks_utc AS u, h_clicks AS c
WHERE ((c.dt = date_sub(:biz_date, 1) AND c.hour >= '22') OR (c.dt = :biz_date AND c.hour < '22')) AND u.dt >= :biz_date;

-- case: days_before_from_values
-- reads: d_orders = Set -7,-1,0
SELECT o.a FROM d_orders AS o JOIN (VALUES (0), (1), (7)) AS s(n) ON o.dt = date_sub(:biz_date, s.n);

-- case: days_before_from_a_range
-- reads: d_orders = Range -3..-1
SELECT o.a FROM range(1, 4) AS r(n) LEFT JOIN d_orders AS o ON o.dt = date_sub(:biz_date, int(n));

-- case: values_that_an_outer_join_leaves_out
-- reads: d_orders = undecidable: a row that may be made up (sequences-values_that_an_outer_join_leaves_out.sql:1:1)
SELECT o.a FROM d_orders AS o LEFT JOIN range(1, 3) AS r ON o.dt = date_sub(:biz_date, int(r.id))
WHERE o.dt BETWEEN date_sub(:biz_date, 3) AND :biz_date AND (r.id IS NULL OR o.dt = :biz_date);
