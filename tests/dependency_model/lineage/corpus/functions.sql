-- case: whole_days_that_passed
-- reads: d_orders = Range -2..0
SELECT user_id, x FROM d_orders WHERE dt <= :biz_date AND timestampdiff(DAY, dt, :biz_date) < 3;

-- case: a_date_without_its_dashes
-- reads: d_orders = Set 0
SELECT user_id, x FROM d_orders WHERE dt = to_date(regexp_replace(cast(:biz_date AS STRING), '-', ''), 'yyyyMMdd');

-- case: the_first_part_of_a_text
-- reads: d_orders = Set 0
SELECT user_id, x FROM d_orders WHERE cast(dt AS STRING) = split(cast(:period_start AS STRING), ' ')[0];

-- case: pairs
-- reads: h_clicks = Set 3,4
SELECT user_id FROM h_clicks WHERE (dt, hour) IN ((:biz_date, '03'), (:biz_date, '04'));

-- case: not_distinct
-- reads: d_orders = Set 0
SELECT user_id, x FROM d_orders WHERE dt BETWEEN date_sub(:biz_date, 30) AND :biz_date AND NOT dt IS DISTINCT FROM :biz_date;

-- case: a_condition_as_a_number
-- reads: d_orders = Set 0
SELECT user_id, x FROM d_orders WHERE dt BETWEEN date_sub(:biz_date, 30) AND :biz_date AND int(dt = :biz_date) = 1;

-- case: an_interval_twice
-- reads: d_orders = Set -1,0
SELECT user_id, x FROM d_orders WHERE dt <= :biz_date AND dt > :biz_date - 2 * INTERVAL 1 DAY;

-- case: what_lies_between_instants
-- reads: d_orders = Set -1,0
SELECT user_id, x FROM d_orders WHERE dt <= :biz_date AND :period_end - cast(dt AS TIMESTAMP) < INTERVAL 3 DAYS;

-- case: a_day_of_seconds_is_no_day_where_clocks_change
-- reads: d_orders = undecidable: no offset
SELECT user_id, x FROM d_orders WHERE dt = to_date(from_unixtime(unix_timestamp(:biz_date) - 86400));

-- case: the_day_before_but_friday_on_mondays
-- reads: d_orders = undecidable: no offset
SELECT user_id, x FROM d_orders WHERE dt = decode(weekday(:biz_date), 0, date_sub(:biz_date, 3), date_sub(:biz_date, 1));

-- case: the_hour_that_autumn_repeats_fits_no_pattern
-- reads: h_clicks = Range 0..5 once
SELECT user_id FROM h_clicks WHERE dt = :biz_date AND hour RLIKE '^0[0-5]$';

-- case: the_hour_that_autumn_repeats_fits_no_date_pattern
-- reads: h_clicks = undecidable: to_timestamp(concat(dt, ' ', hour), 'yyyy-MM-dd HH') is not understood
SELECT user_id FROM h_clicks
WHERE dt BETWEEN date_sub(:biz_date, 1) AND :biz_date AND to_timestamp(concat(dt, ' ', hour), 'yyyy-MM-dd HH') >= :period_start;

-- case: a_unit_that_spark_does_not_have
-- reads: d_orders = undecidable: Spark has no unit Q here, but year, yyyy, yy, quarter, month, mm, mon, week
SELECT user_id, x FROM d_orders WHERE dt >= trunc(:biz_date, 'Q') AND dt <= :biz_date;

-- case: a_unit_of_instants_that_spark_does_not_have
-- reads: d_orders = undecidable: Spark has no unit M here
SELECT user_id, x FROM d_orders WHERE dt >= date_trunc('M', :biz_date) AND dt <= :biz_date;

-- case: a_weekday_that_spark_does_not_have
-- reads: d_orders = undecidable: next_day(:biz_date, 'TUES') is not understood
SELECT user_id, x FROM d_orders WHERE dt <= :biz_date AND dt > date_sub(next_day(:biz_date, 'TUES'), 14);

-- case: a_step_that_spark_does_not_have
-- reads: d_orders = undecidable: Spark has no unit dd here
SELECT user_id, x FROM d_orders WHERE dt <= :biz_date AND dt > dateadd(dd, -3, :biz_date);

-- case: an_interval_that_spark_does_not_have
-- reads: d_orders = undecidable: this interval is not known
SELECT user_id, x FROM d_orders WHERE dt <= :biz_date AND dt > :biz_date - INTERVAL 1 QUARTER;

-- case: a_day_added_to_an_instant
-- reads: d_orders = Set -1
SELECT user_id, x FROM d_orders WHERE dt = to_date(timestampadd(DAY, -1, :period_start));

-- case: an_instant_of_its_parts
-- reads: d_orders = Set 0
SELECT user_id, x FROM d_orders
WHERE cast(dt AS TIMESTAMP) = make_timestamp(year(:biz_date), month(:biz_date), day(:biz_date), 0, 0, 0);

-- case: an_instant_of_a_text_by_its_format
-- reads: d_orders = Set 0
SELECT user_id, x FROM d_orders WHERE dt = to_date(to_timestamp(date_format(:biz_date, 'yyyyMMdd'), 'yyyyMMdd'));

-- case: an_instant_of_a_text_that_is_no_instant_in_autumn
-- reads: h_clicks = undecidable: to_timestamp(concat(dt, ' ', hour)) is not understood
SELECT user_id, x FROM h_clicks
WHERE dt BETWEEN date_sub(:biz_date, 1) AND :biz_date AND to_timestamp(concat(dt, ' ', hour)) >= :period_start;

-- case: a_function_that_is_not_known_leaves_no_day_out
-- reads: d_orders = undecidable: the function hash is not known
SELECT user_id, x FROM d_orders WHERE dt IN (:biz_date, date_sub(:biz_date, 1)) AND hash(dt) > 0;

-- case: days_apart_either_way
-- reads: d_orders = Range -3..3
SELECT * FROM d_orders WHERE abs(datediff(dt, :biz_date)) <= 3;

-- case: days_apart_negated
-- reads: d_orders = Range -3..0
SELECT * FROM d_orders WHERE -datediff(dt, :biz_date) BETWEEN 0 AND 3;

-- case: seven_days_by_floor
-- reads: d_orders = Range -6..0
SELECT * FROM d_orders WHERE floor(datediff(:biz_date, dt) / 7) = 0;

-- case: seven_days_by_a_whole_quotient
-- reads: d_orders = Range -13..-7
SELECT * FROM d_orders WHERE cast(datediff(:biz_date, dt) / 7 AS INT) = 1;

-- case: seven_days_by_div_which_cuts_towards_zero
-- reads: d_orders = Range -6..6
SELECT * FROM d_orders WHERE datediff(:biz_date, dt) div 7 = 0;

-- case: seven_days_by_ceil
-- reads: d_orders = Range -7..-1
SELECT * FROM d_orders WHERE ceil(datediff(:biz_date, dt) / 7) = 1;

-- case: week_by_its_number
-- reads: d_orders = to_date week
SELECT * FROM d_orders
WHERE weekofyear(dt) = weekofyear(:biz_date) AND dt BETWEEN date_sub(:biz_date, 6) AND :biz_date;

-- case: week_by_its_number_within_a_year
-- reads: d_orders = undecidable: no offset names the slices
SELECT * FROM d_orders WHERE year(dt) = year(:biz_date) AND weekofyear(dt) = weekofyear(:biz_date);

-- case: days_as_numbers
-- reads: d_orders = Range -6..0
SELECT * FROM d_orders
WHERE year(dt) * 10000 + month(dt) * 100 + day(dt)
  BETWEEN cast(date_format(date_sub(:biz_date, 6), 'yyyyMMdd') AS INT) AND cast(date_format(:biz_date, 'yyyyMMdd') AS INT);

-- case: every_seventh_day_of_all_months
-- reads: d_orders = undecidable: its conditions are too involved
SELECT * FROM d_orders WHERE day(dt) % 7 = 3;

-- case: a_text_that_begins_with_the_month
-- reads: d_orders = all month
SELECT a FROM d_orders WHERE startswith(CAST(dt AS STRING), date_format(:biz_date, 'yyyy-MM'));

-- case: the_part_before_a_sign
-- reads: d_orders = Set 0
SELECT a FROM d_orders WHERE dt = to_date(split_part(concat(:biz_date, '|x'), '|', 1));

-- case: the_week_of_its_year
-- reads: d_orders = all week
SELECT a FROM d_orders
WHERE extract(YEAROFWEEK FROM dt) = date_part('YEAROFWEEK', :biz_date) AND extract(WEEK FROM dt) = weekofyear(:biz_date);
