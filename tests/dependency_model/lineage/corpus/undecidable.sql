-- case: no_predicate
-- reads: d_orders = undecidable
SELECT count(*) AS orders FROM d_orders;

-- case: no_end
-- reads: d_orders = undecidable
SELECT * FROM d_orders WHERE dt >= date_sub(:biz_date, 6);

-- case: no_beginning_and_not_today
-- reads: d_orders = undecidable: no condition bounds its partition columns at their beginning
SELECT * FROM d_orders WHERE dt < :biz_date;

-- case: no_beginning_in_a_zone_of_its_own
-- reads: h_clicks_utc = undecidable
SELECT * FROM h_clicks_utc WHERE dt <= :biz_date;

-- case: a_fixed_day
-- reads: d_orders = undecidable
SELECT * FROM d_orders WHERE dt = '2026-03-29';

-- case: the_clock_of_the_run
-- reads: d_orders = undecidable: the clock of the run
SELECT * FROM d_orders WHERE dt = date_sub(current_date(), 1);

-- case: now
-- reads: d_orders = undecidable: the clock of the run
SELECT * FROM d_orders WHERE dt = to_date(now());

-- case: now_beside_business_time
-- reads: d_orders = Set 0
SELECT *, current_timestamp() AS computed_at FROM d_orders WHERE dt = :biz_date AND created_at < now();

-- case: unknown_parameter
-- reads: d_orders = undecidable: unknown parameter :biz_dat
SELECT * FROM d_orders WHERE dt = :biz_dat;

-- case: hour_of_a_daily_entity
-- reads: h_clicks = undecidable: unknown parameter :biz_hour
SELECT * FROM h_clicks WHERE dt = :biz_date AND hour = :biz_hour;

-- case: unknown_function
-- reads: d_orders = undecidable: the function previous_workday
SELECT * FROM d_orders WHERE dt = previous_workday(:biz_date);

-- case: unknown_function_beside_business_time
-- reads: d_orders = Set 0
SELECT * FROM d_orders WHERE dt = :biz_date AND is_workday(dt);

-- case: random
-- reads: d_orders = undecidable: the function rand
SELECT * FROM d_orders WHERE dt = date_sub(:biz_date, cast(rand() * 7 AS INT));

-- case: a_column_of_the_data
-- reads: d_orders = Set 0; d_users = undecidable
SELECT * FROM d_orders AS o JOIN d_users AS u ON u.dt = o.registered_on WHERE o.dt = :biz_date;

-- case: weekdays_only
-- reads: d_orders = undecidable
SELECT * FROM d_orders WHERE dt = CASE WHEN weekday(:biz_date) = 0 THEN date_sub(:biz_date, 3) ELSE date_sub(:biz_date, 1) END;

-- case: a_special_day
-- reads: d_orders = undecidable
SELECT * FROM d_orders WHERE dt = :biz_date OR day(:biz_date) = 13 AND dt = date_sub(:biz_date, 1);

-- case: a_special_leap_day
-- reads: d_orders = undecidable
SELECT * FROM d_orders
WHERE dt = :biz_date OR date_format(:biz_date, 'MM-dd') = '02-29' AND dt = date_sub(:biz_date, 1);

-- case: changes_on_a_named_day
-- reads: d_orders = undecidable
SELECT * FROM d_orders WHERE dt = :biz_date OR :biz_date = '2026-07-14' AND dt = date_sub(:biz_date, 1);

-- case: case_in_a_predicate
-- reads: d_orders = Set -1,0
SELECT * FROM d_orders
WHERE CASE WHEN status = 'late' THEN dt = date_sub(:biz_date, 1) ELSE dt = :biz_date END;

-- case: case_always_chosen
-- reads: d_orders = Set 0
SELECT * FROM d_orders WHERE CASE WHEN dt = :biz_date THEN TRUE ELSE FALSE END;

-- case: null_is_never_true
-- reads: d_orders = undecidable
SELECT * FROM d_orders WHERE dt = NULL;

-- case: null_safe
-- reads: d_orders = Set 0
SELECT * FROM d_orders WHERE dt <=> :biz_date;

-- case: is_not_null_says_nothing
-- reads: d_orders = undecidable
SELECT * FROM d_orders WHERE dt IS NOT NULL;

-- case: or_with_data
-- reads: d_orders = undecidable
SELECT * FROM d_orders WHERE dt = :biz_date OR status = 'open';

-- case: and_with_data
-- reads: d_orders = Range -2..0
SELECT * FROM d_orders WHERE dt = :biz_date OR (status = 'open' AND dt BETWEEN date_sub(:biz_date, 2) AND :biz_date);

-- case: not_of_data
-- reads: d_orders = Set 0
SELECT * FROM d_orders WHERE NOT (dt <> :biz_date OR status = 'void');

-- case: text_beside_date
-- reads: d_orders = Set 0
SELECT * FROM d_orders WHERE dt = date_format(:biz_date, 'yyyy-MM-dd');

-- case: text_column_of_date
-- reads: d_orders = Set -1
SELECT * FROM d_orders WHERE cast(dt AS STRING) = cast(date_sub(:biz_date, 1) AS STRING);

-- case: compact_text_of_both
-- reads: d_orders = Set 0
SELECT * FROM d_orders WHERE date_format(dt, 'yyyyMMdd') = date_format(:biz_date, 'yyyyMMdd');

-- case: compact_text_range
-- reads: d_orders = Range -6..0
SELECT * FROM d_orders
WHERE date_format(dt, 'yyyyMMdd') BETWEEN date_format(date_sub(:biz_date, 6), 'yyyyMMdd') AND date_format(:biz_date, 'yyyyMMdd');

-- case: read_back_from_text
-- reads: d_orders = Set 0
SELECT * FROM d_orders WHERE dt = to_date(date_format(:biz_date, 'yyyyMMdd'), 'yyyyMMdd');

-- case: sampled_table
-- reads: d_orders = undecidable
SELECT * FROM (SELECT dt, user_id FROM d_orders TABLESAMPLE (10 PERCENT)) WHERE dt = :biz_date;

-- case: pivoted
-- reads: d_orders = Set 0
SELECT * FROM (SELECT user_id, status, amount FROM d_orders WHERE dt = :biz_date) PIVOT (sum(amount) FOR status IN ('paid', 'open'));

-- case: scalar_without_a_table
-- reads: d_orders = Set 0
SELECT * FROM d_orders WHERE dt = (SELECT :biz_date);

-- case: three_valued_trap
-- reads: d_orders = Set -1,0
SELECT * FROM d_orders
WHERE NOT (NOT (dt = :biz_date) AND NOT (dt = date_sub(:biz_date, 1) AND status IS NOT NULL));

-- case: greatest_and_least
-- reads: d_orders = Range -6..-1
SELECT * FROM d_orders
WHERE dt >= greatest(date_sub(:biz_date, 6), date_sub(:biz_date, 9)) AND dt < least(:biz_date, date_add(:biz_date, 3));
