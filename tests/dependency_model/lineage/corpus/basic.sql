-- case: same_day
-- reads: d_orders = Set 0
SELECT user_id, sum(amount) AS amount FROM d_orders WHERE dt = :biz_date GROUP BY user_id;

-- case: day_before
-- reads: d_orders = Set -1
SELECT * FROM d_orders WHERE dt = date_sub(:biz_date, 1);

-- case: day_before_by_arithmetic
-- reads: d_orders = Set -1
SELECT * FROM d_orders WHERE dt + 1 = :biz_date;

-- case: day_before_by_interval
-- reads: d_orders = Set -1
SELECT * FROM d_orders WHERE dt = :biz_date - INTERVAL 1 DAY;

-- case: day_before_by_dateadd
-- reads: d_orders = Set -1
SELECT * FROM d_orders WHERE dt = dateadd(DAY, -1, :biz_date);

-- case: day_before_by_difference
-- reads: d_orders = Set -1
SELECT * FROM d_orders WHERE datediff(:biz_date, dt) = 1;

-- case: last_seven_days
-- reads: d_orders = Range -6..0
SELECT * FROM d_orders WHERE dt BETWEEN date_sub(:biz_date, 6) AND :biz_date;

-- case: last_seven_days_open_below
-- reads: d_orders = Range -6..0
SELECT * FROM d_orders WHERE dt > date_sub(:biz_date, 7) AND dt <= :biz_date;

-- case: last_seven_days_by_difference
-- reads: d_orders = Range -6..0
SELECT * FROM d_orders WHERE datediff(:biz_date, dt) BETWEEN 0 AND 6;

-- case: chosen_days
-- reads: d_orders = Set -7,-1,0
SELECT * FROM d_orders WHERE dt IN (:biz_date, date_sub(:biz_date, 1), date_sub(:biz_date, 7));

-- case: chosen_days_by_or
-- reads: d_orders = Set -7,0
SELECT * FROM d_orders WHERE dt = :biz_date OR dt = date_sub(:biz_date, 7);

-- case: all_but_one_of_a_week
-- reads: d_orders = Set -6,-5,-4,-2,-1,0
SELECT * FROM d_orders
WHERE dt BETWEEN date_sub(:biz_date, 6) AND :biz_date AND NOT dt = date_sub(:biz_date, 3);

-- case: a_double_negation
-- reads: d_orders = Set 0
SELECT * FROM d_orders WHERE NOT (dt <> :biz_date);

-- case: de_morgan
-- reads: d_orders = Range -2..0
SELECT * FROM d_orders WHERE NOT (dt < date_sub(:biz_date, 2) OR dt > :biz_date);

-- case: month_to_date
-- reads: d_orders = to_date month
SELECT * FROM d_orders WHERE dt BETWEEN trunc(:biz_date, 'MM') AND :biz_date;

-- case: month_to_date_by_timestamp
-- reads: d_orders = to_date month
SELECT * FROM d_orders WHERE dt >= date_trunc('month', :biz_date) AND dt <= :biz_date;

-- case: month_to_date_by_fields
-- reads: d_orders = to_date month
SELECT * FROM d_orders
WHERE year(dt) = year(:biz_date) AND month(dt) = month(:biz_date) AND dt <= :biz_date;

-- case: month_to_date_by_text
-- reads: d_orders = to_date month
SELECT * FROM d_orders
WHERE date_format(dt, 'yyyyMM') = date_format(:biz_date, 'yyyyMM') AND dt <= :biz_date;

-- case: week_to_date
-- reads: d_orders = to_date week
SELECT * FROM d_orders WHERE dt BETWEEN date_trunc('week', :biz_date) AND :biz_date;

-- case: quarter_to_date
-- reads: d_orders = to_date quarter
SELECT * FROM d_orders WHERE dt BETWEEN trunc(:biz_date, 'quarter') AND :biz_date;

-- case: year_to_date
-- reads: d_orders = to_date year
SELECT * FROM d_orders WHERE dt BETWEEN trunc(:biz_date, 'year') AND :biz_date;

-- case: whole_month_around
-- reads: d_orders = all month
SELECT * FROM d_orders WHERE dt BETWEEN trunc(:biz_date, 'MM') AND last_day(:biz_date);

-- case: month_to_date_and_same_day_of_last_week
-- reads: d_orders = to_date month and Set -7,0
SELECT * FROM d_orders
WHERE dt BETWEEN trunc(:biz_date, 'MM') AND :biz_date OR dt = date_sub(:biz_date, 7);

-- case: same_day_last_month
-- reads: d_orders = date -1 month
SELECT * FROM d_orders WHERE dt = add_months(:biz_date, -1);

-- case: month_of_days
-- down: month
-- reads: d_orders = all
SELECT * FROM d_orders WHERE dt BETWEEN :biz_date AND last_day(:biz_date);

-- case: month_of_days_by_next_month
-- down: month
-- reads: d_orders = all
SELECT * FROM d_orders WHERE dt >= :biz_date AND dt < add_months(:biz_date, 1);

-- case: month_of_days_by_trunc_of_the_column
-- down: month
-- reads: d_orders = all
SELECT * FROM d_orders WHERE trunc(dt, 'MM') = :biz_date;

-- case: first_day_of_month
-- down: month
-- reads: d_orders = Set 0
SELECT * FROM d_orders WHERE dt = :biz_date;

-- case: last_day_of_month
-- down: month
-- reads: d_orders = last of month
SELECT * FROM d_orders WHERE dt = last_day(:biz_date);

-- case: month_by_instants
-- down: month
-- reads: d_orders = all
SELECT * FROM d_orders WHERE dt >= to_date(:period_start) AND dt < to_date(:period_end);

-- case: week_of_days
-- down: week
-- reads: d_orders = all
SELECT * FROM d_orders WHERE dt BETWEEN :biz_date AND date_add(:biz_date, 6);

-- case: two_weeks_of_days
-- down: week
-- reads: d_orders = Range -7..6
SELECT * FROM d_orders WHERE dt >= date_sub(:biz_date, 7) AND dt < date_add(:biz_date, 7);

-- case: weekdays_of_a_week
-- down: week
-- reads: d_orders = Range 0..4
SELECT * FROM d_orders
WHERE dt BETWEEN :biz_date AND date_add(:biz_date, 6) AND weekday(dt) < 5;

-- case: quarter_of_months
-- down: quarter
-- reads: m_targets = all
SELECT * FROM m_targets WHERE dt BETWEEN :biz_date AND add_months(:biz_date, 2);

-- case: day_of_its_month
-- reads: m_targets = Set 0
SELECT * FROM m_targets WHERE dt = trunc(:biz_date, 'MM');

-- case: day_of_the_month_before
-- reads: m_targets = Set -1
SELECT * FROM m_targets WHERE dt = add_months(trunc(:biz_date, 'MM'), -1);

-- case: day_of_its_week
-- reads: w_sales = Set 0
SELECT * FROM w_sales WHERE dt = date_trunc('week', :biz_date);

-- case: day_of_hours
-- reads: h_clicks = all
SELECT * FROM h_clicks WHERE dt = :biz_date;

-- case: day_of_hours_by_range
-- reads: h_clicks = all
SELECT * FROM h_clicks WHERE dt = :biz_date AND hour BETWEEN '00' AND '23';

-- case: morning_hours
-- reads: h_clicks = Range 8..11
SELECT * FROM h_clicks WHERE dt = :biz_date AND hour BETWEEN '08' AND '11';

-- case: one_hour_of_the_day
-- reads: h_clicks = Set 12
SELECT * FROM h_clicks WHERE dt = :biz_date AND hour = '12';

-- case: hours_by_number
-- reads: h_clicks = Range 9..17
SELECT * FROM h_clicks WHERE dt = :biz_date AND substring(hour, 1, 2) + 0 BETWEEN 9 AND 17;

-- case: yesterdays_hours_in_utc
-- reads: h_clicks_utc = undecidable
SELECT * FROM h_clicks_utc WHERE dt = date_sub(:biz_date, 1);

-- case: same_hour
-- down: hour
-- reads: h_clicks = Set 0
SELECT * FROM h_clicks WHERE dt = :biz_date AND hour = :biz_hour;

-- case: hours_so_far
-- down: hour
-- reads: h_clicks = to_date day
SELECT * FROM h_clicks WHERE dt = :biz_date AND hour <= :biz_hour;

-- case: day_of_the_hour
-- down: hour
-- reads: d_users = Set 0
SELECT * FROM d_users WHERE dt = :biz_date;

-- case: day_before_the_hour
-- down: hour
-- reads: d_users = Set -1
SELECT * FROM d_users WHERE dt = date_sub(:biz_date, 1);

-- case: same_five_minutes
-- down: 5min
-- reads: e_events = Set 0
SELECT * FROM e_events WHERE dt = :biz_date AND hour = :biz_hour AND minute = :biz_minute;

-- case: hour_of_five_minutes
-- down: hour
-- reads: e_events = all
SELECT * FROM e_events WHERE dt = :biz_date AND hour = :biz_hour;

-- case: static_table
-- reads: s_regions = static
SELECT * FROM s_regions WHERE code = 'cn';

-- case: itself_a_day_before
-- reads: d_total = Set -1; d_orders = Set 0
SELECT t.balance + o.amount AS balance
FROM d_total AS t JOIN d_orders AS o ON o.user_id = t.user_id AND o.dt = :biz_date
WHERE t.dt = date_sub(:biz_date, 1);

-- case: ten_years_back
-- reads: d_orders = Set -3650,0
SELECT * FROM d_orders WHERE dt IN (:biz_date, date_sub(:biz_date, 3650));
