-- Queries in the style of TPC-DS and of everyday warehouses; most are nested three deep.

-- case: tpcds_1_customers_who_return_more_than_usual
-- reads: d_returns = to_date year; d_stores = Set 0; d_users = Set 0
WITH customer_total_return AS (
  SELECT r.user_id AS ctr_user, r.store_id AS ctr_store, sum(r.amount) AS ctr_total
  FROM d_returns AS r
  WHERE r.dt BETWEEN trunc(:biz_date, 'year') AND :biz_date
  GROUP BY r.user_id, r.store_id
)
SELECT u.user_id
FROM customer_total_return AS ctr1, d_stores AS s, d_users AS u
WHERE ctr1.ctr_total > (
    SELECT avg(ctr2.ctr_total) * 1.2 FROM customer_total_return AS ctr2 WHERE ctr1.ctr_store = ctr2.ctr_store
  )
  AND s.store_id = ctr1.ctr_store AND s.dt = :biz_date AND s.state = 'TN'
  AND u.user_id = ctr1.ctr_user AND u.dt = s.dt
ORDER BY u.user_id LIMIT 100;

-- case: tpcds_2_week_over_week
-- down: week
-- reads: d_orders = Range -7..6; d_clicks = Range -7..6
WITH both_channels AS (
  SELECT dt AS sold, amount AS price FROM d_orders UNION ALL SELECT dt, amount FROM d_clicks
), by_week AS (
  SELECT date_trunc('week', sold) AS week, sum(CASE WHEN dayofweek(sold) = 1 THEN price END) AS sun,
    sum(CASE WHEN dayofweek(sold) = 2 THEN price END) AS mon
  FROM both_channels GROUP BY date_trunc('week', sold)
)
SELECT this.sun / last.sun, this.mon / last.mon
FROM by_week AS this JOIN by_week AS last ON last.week = this.week - INTERVAL 7 DAYS
WHERE this.week = :biz_date;

-- case: tpcds_3_brands_of_a_month
-- down: month
-- reads: d_orders = all; d_items = last of month
SELECT i.brand_id, i.brand, sum(o.amount) AS sum_agg
FROM d_orders AS o, d_items AS i
WHERE o.item_id = i.item_id AND i.dt = last_day(:biz_date) AND i.manufacturer = 128
  AND o.dt >= :biz_date AND o.dt < add_months(:biz_date, 1)
GROUP BY i.brand, i.brand_id;

-- case: tpcds_4_three_channels
-- reads: d_orders = Set -365,0; d_clicks = Set -365,0; d_users = Set 0
WITH year_total AS (
  SELECT u.user_id, o.dt AS day, sum(o.amount) AS total, 's' AS sale_type
  FROM d_users AS u JOIN d_orders AS o ON o.user_id = u.user_id
  WHERE u.dt = :biz_date GROUP BY u.user_id, o.dt
  UNION ALL
  SELECT u.user_id, c.dt, sum(c.amount), 'c'
  FROM d_users AS u JOIN d_clicks AS c ON c.user_id = u.user_id
  WHERE u.dt = :biz_date GROUP BY u.user_id, c.dt
)
SELECT now_s.user_id
FROM year_total AS now_s
JOIN year_total AS old_s ON old_s.user_id = now_s.user_id
JOIN year_total AS now_c ON now_c.user_id = now_s.user_id
JOIN year_total AS old_c ON old_c.user_id = now_s.user_id
WHERE now_s.sale_type = 's' AND old_s.sale_type = 's' AND now_c.sale_type = 'c' AND old_c.sale_type = 'c'
  AND now_s.day = :biz_date AND now_c.day = :biz_date
  AND old_s.day = date_sub(:biz_date, 365) AND old_c.day = date_sub(:biz_date, 365)
  AND now_c.total / old_c.total > now_s.total / old_s.total;

-- case: tpcds_6_dear_items
-- reads: d_items = Set 0; d_orders = to_date month
SELECT a.state, count(*) AS cnt
FROM (SELECT * FROM d_orders WHERE dt BETWEEN trunc(:biz_date, 'MM') AND :biz_date) AS a
JOIN d_items AS i ON i.item_id = a.item_id AND i.dt = :biz_date
WHERE i.price > 1.2 * (SELECT avg(j.price) FROM d_items AS j WHERE j.category = i.category AND j.dt = i.dt)
GROUP BY a.state HAVING count(*) >= 10;

-- case: tpcds_8_intersect_of_zips
-- reads: d_orders = Range -90..0; d_users = Set 0; s_regions = static
SELECT s.store_name, sum(o.amount)
FROM d_orders AS o,
  (SELECT zip AS store_name, zip FROM (
     SELECT substr(zip, 1, 5) AS zip FROM d_users WHERE dt = :biz_date
     INTERSECT
     SELECT zip FROM (SELECT substr(zip, 1, 5) AS zip, count(*) AS cnt FROM s_regions GROUP BY zip HAVING count(*) > 10)
  )) AS s
WHERE o.zip = s.zip AND o.dt BETWEEN date_sub(:biz_date, 90) AND :biz_date
GROUP BY s.store_name;

-- case: tpcds_9_scalar_buckets
-- reads: d_orders = Range -6..0
SELECT
  CASE WHEN (SELECT count(*) FROM d_orders WHERE dt BETWEEN date_sub(:biz_date, 6) AND :biz_date AND qty BETWEEN 1 AND 20) > 100
    THEN (SELECT avg(amount) FROM d_orders WHERE dt = :biz_date AND qty BETWEEN 1 AND 20)
    ELSE (SELECT avg(net) FROM d_orders WHERE dt = date_sub(:biz_date, 1) AND qty BETWEEN 1 AND 20) END AS bucket1;

-- case: tpcds_10_exists_or_exists
-- reads: d_users = Set 0; d_orders = to_date month; d_clicks = to_date month; d_returns = Range -6..0
SELECT u.city, count(*) AS cnt
FROM d_users AS u
WHERE u.dt = :biz_date
  AND EXISTS (SELECT * FROM d_orders AS o WHERE o.user_id = u.user_id AND o.dt BETWEEN trunc(u.dt, 'MM') AND u.dt)
  AND (EXISTS (SELECT * FROM d_clicks AS c WHERE c.user_id = u.user_id AND c.dt BETWEEN trunc(u.dt, 'MM') AND u.dt)
    OR EXISTS (SELECT * FROM d_returns AS r WHERE r.user_id = u.user_id AND r.dt BETWEEN date_sub(u.dt, 6) AND u.dt))
GROUP BY u.city;

-- case: tpcds_14_cross_channel_items
-- reads: d_orders = Range -29..0; d_clicks = Range -29..0; d_returns = Range -29..0
WITH cross_items AS (
  SELECT item_id FROM d_orders WHERE dt BETWEEN date_sub(:biz_date, 29) AND :biz_date
  INTERSECT SELECT item_id FROM d_clicks WHERE dt BETWEEN date_sub(:biz_date, 29) AND :biz_date
  INTERSECT SELECT item_id FROM d_returns WHERE dt BETWEEN date_sub(:biz_date, 29) AND :biz_date
), avg_sales AS (
  SELECT avg(qty * price) AS average FROM (
    SELECT qty, price FROM d_orders WHERE dt BETWEEN date_sub(:biz_date, 6) AND :biz_date
    UNION ALL SELECT qty, price FROM d_clicks WHERE dt BETWEEN date_sub(:biz_date, 6) AND :biz_date
  ) AS x
)
SELECT channel, sum(sales) AS sales FROM (
  SELECT 'store' AS channel, item_id, sum(qty * price) AS sales FROM d_orders
  WHERE item_id IN (SELECT item_id FROM cross_items) AND dt = :biz_date
  GROUP BY item_id HAVING sum(qty * price) > (SELECT average FROM avg_sales)
  UNION ALL
  SELECT 'web', item_id, sum(qty * price) FROM d_clicks
  WHERE item_id IN (SELECT item_id FROM cross_items) AND dt = :biz_date
  GROUP BY item_id HAVING sum(qty * price) > (SELECT average FROM avg_sales)
) AS y GROUP BY ROLLUP (channel);

-- case: tpcds_16_not_exists_returns
-- reads: d_orders = Range -60..0; d_returns = Range -60..0
SELECT count(DISTINCT o1.order_id) AS order_count
FROM d_orders AS o1
WHERE o1.dt BETWEEN date_sub(:biz_date, 60) AND :biz_date
  AND EXISTS (SELECT * FROM d_orders AS o2 WHERE o2.order_id = o1.order_id AND o2.depot <> o1.depot AND o2.dt = o1.dt)
  AND NOT EXISTS (SELECT * FROM d_returns AS r WHERE r.order_id = o1.order_id AND r.dt BETWEEN o1.dt AND :biz_date);

-- case: tpcds_23_best_customers
-- reads: d_orders = Range -364..0; d_clicks = to_date month
WITH frequent AS (
  SELECT item_id, dt AS sold, count(*) AS cnt FROM d_orders
  WHERE dt > date_sub(:biz_date, 365) AND dt <= :biz_date GROUP BY item_id, dt HAVING count(*) > 4
), max_sales AS (
  SELECT max(csales) AS cmax FROM (
    SELECT user_id, sum(qty * price) AS csales FROM d_orders
    WHERE dt > date_sub(:biz_date, 365) AND dt <= :biz_date GROUP BY user_id
  )
)
SELECT sum(sales) FROM (
  SELECT qty * price AS sales FROM d_clicks
  WHERE dt BETWEEN trunc(:biz_date, 'MM') AND :biz_date
    AND item_id IN (SELECT item_id FROM frequent)
    AND user_id IN (SELECT user_id FROM d_orders CROSS JOIN max_sales WHERE dt = :biz_date GROUP BY user_id, cmax
                    HAVING sum(qty * price) > 0.5 * cmax)
);

-- case: tpcds_31_quarters
-- down: quarter
-- reads: d_orders = all quarter -1,0
WITH ss AS (SELECT region, trunc(dt, 'quarter') AS q, sum(amount) AS sales FROM d_orders GROUP BY region, trunc(dt, 'quarter'))
SELECT ss2.sales / ss1.sales FROM ss AS ss1 JOIN ss AS ss2 ON ss2.region = ss1.region
WHERE ss2.q = :biz_date AND ss1.q = add_months(:biz_date, -3);

-- case: tpcds_31_quarters_of_months
-- down: quarter
-- reads: m_targets = Range -3..2
WITH ss AS (SELECT region, trunc(dt, 'quarter') AS q, sum(amount) AS sales FROM m_targets GROUP BY region, trunc(dt, 'quarter'))
SELECT ss2.sales / ss1.sales FROM ss AS ss1 JOIN ss AS ss2 ON ss2.region = ss1.region
WHERE ss2.q = :biz_date AND ss1.q = add_months(:biz_date, -3);

-- case: tpcds_36_ranked_rollup
-- reads: d_orders = Set 0; d_items = Set 0
SELECT * FROM (
  SELECT sum(o.profit) / sum(o.price) AS margin, i.category, i.class, grouping(i.category) + grouping(i.class) AS lochierarchy,
    rank() OVER (PARTITION BY grouping(i.category) + grouping(i.class) ORDER BY sum(o.profit) / sum(o.price)) AS rank_within
  FROM d_orders AS o JOIN d_items AS i ON i.item_id = o.item_id AND i.dt = o.dt
  WHERE o.dt = :biz_date GROUP BY ROLLUP (i.category, i.class)
) AS results ORDER BY lochierarchy DESC;

-- case: tpcds_38_three_way_intersect
-- reads: d_orders = Range -6..0; d_clicks = Range -6..0; d_users = Set 0
SELECT count(*) FROM (
  SELECT DISTINCT u.name, o.dt FROM d_orders AS o JOIN d_users AS u ON u.user_id = o.user_id AND u.dt = :biz_date
  INTERSECT
  SELECT DISTINCT u.name, c.dt FROM d_clicks AS c JOIN d_users AS u ON u.user_id = c.user_id AND u.dt = :biz_date
) AS hot WHERE dt BETWEEN date_sub(:biz_date, 6) AND :biz_date;

-- case: tpcds_44_best_and_worst
-- reads: d_orders = Set 0; d_items = Set 0
SELECT asceding.rnk, i1.name AS best, i2.name AS worst
FROM (SELECT * FROM (SELECT item_id, rank() OVER (ORDER BY rank_col ASC) AS rnk FROM (
        SELECT item_id, avg(profit) AS rank_col FROM d_orders AS o1 WHERE o1.dt = :biz_date GROUP BY item_id
        HAVING avg(profit) > 0.9 * (SELECT avg(profit) FROM d_orders WHERE dt = :biz_date AND promo IS NULL)) AS v1) AS v11
      WHERE rnk < 11) AS asceding,
     (SELECT * FROM (SELECT item_id, rank() OVER (ORDER BY rank_col DESC) AS rnk FROM (
        SELECT item_id, avg(profit) AS rank_col FROM d_orders AS o1 WHERE o1.dt = :biz_date GROUP BY item_id) AS v2) AS v21
      WHERE rnk < 11) AS descending, d_items AS i1, d_items AS i2
WHERE asceding.rnk = descending.rnk AND i1.item_id = asceding.item_id AND i2.item_id = descending.item_id
  AND i1.dt = :biz_date AND i2.dt = i1.dt;

-- case: tpcds_47_neighbouring_months
-- down: month
-- reads: m_targets = Range -1..1
WITH v1 AS (
  SELECT category, dt, sum(amount) AS sum_sales,
    avg(sum(amount)) OVER (PARTITION BY category, year(dt)) AS avg_monthly
  FROM m_targets WHERE dt BETWEEN add_months(:biz_date, -1) AND add_months(:biz_date, 1)
  GROUP BY category, dt
)
SELECT v1.category, v1.sum_sales, v1_lag.sum_sales AS psum, v1_lead.sum_sales AS nsum
FROM v1, v1 AS v1_lag, v1 AS v1_lead
WHERE v1.category = v1_lag.category AND v1.category = v1_lead.category
  AND v1.dt = add_months(v1_lag.dt, 1) AND v1.dt = add_months(v1_lead.dt, -1) AND v1.dt = :biz_date;

-- case: tpcds_51_running_totals
-- reads: d_orders = to_date month; d_clicks = to_date month
WITH web AS (
  SELECT item_id, dt, sum(sum(amount)) OVER (PARTITION BY item_id ORDER BY dt ROWS UNBOUNDED PRECEDING) AS cume
  FROM d_clicks WHERE dt BETWEEN trunc(:biz_date, 'MM') AND :biz_date GROUP BY item_id, dt
), store AS (
  SELECT item_id, dt, sum(sum(amount)) OVER (PARTITION BY item_id ORDER BY dt ROWS UNBOUNDED PRECEDING) AS cume
  FROM d_orders WHERE dt BETWEEN trunc(:biz_date, 'MM') AND :biz_date GROUP BY item_id, dt
)
SELECT * FROM (
  SELECT coalesce(web.item_id, store.item_id) AS item_id, coalesce(web.dt, store.dt) AS d, web.cume AS w, store.cume AS s
  FROM web FULL OUTER JOIN store ON web.item_id = store.item_id AND web.dt = store.dt
) WHERE d = :biz_date AND w > s;

-- case: tpcds_54_cohort
-- reads: d_clicks = Set -30; d_orders = Range -30..0; d_users = Set 0
WITH my_customers AS (
  SELECT DISTINCT u.user_id FROM (
    SELECT user_id FROM d_clicks WHERE dt = date_sub(:biz_date, 30)
    UNION ALL SELECT user_id FROM d_orders WHERE dt = date_sub(:biz_date, 30)
  ) AS recent JOIN d_users AS u ON u.user_id = recent.user_id AND u.dt = :biz_date
), my_revenue AS (
  SELECT m.user_id, sum(o.amount) AS revenue FROM my_customers AS m JOIN d_orders AS o ON o.user_id = m.user_id
  WHERE o.dt BETWEEN date_sub(:biz_date, 29) AND :biz_date GROUP BY m.user_id
)
SELECT cast(revenue / 50 AS INT) AS segment, count(*) FROM my_revenue GROUP BY 1;

-- case: tpcds_59_stores_by_week
-- down: week
-- reads: d_orders = undecidable
WITH wss AS (
  SELECT store_id, date_trunc('week', dt) AS w, sum(amount) AS s FROM d_orders GROUP BY store_id, date_trunc('week', dt)
)
SELECT y.s / z.s FROM wss AS y JOIN wss AS z ON z.store_id = y.store_id AND z.w = y.w - INTERVAL 364 DAYS
WHERE y.w >= :biz_date;

-- case: tpcds_67_top_of_each_category
-- reads: d_orders = Range -6..0; d_stores = Range -6..0
SELECT * FROM (
  SELECT category, store_id, sumsales, rank() OVER (PARTITION BY category ORDER BY sumsales DESC) AS rk FROM (
    SELECT o.category, s.store_id, sum(coalesce(o.price * o.qty, 0)) AS sumsales
    FROM d_orders AS o, d_stores AS s
    WHERE o.store_id = s.store_id AND o.dt = s.dt AND s.dt BETWEEN date_sub(:biz_date, 6) AND :biz_date
    GROUP BY ROLLUP (o.category, s.store_id)
  ) AS dw1
) AS dw2 WHERE rk <= 100;

-- case: tpcds_75_sales_after_returns
-- reads: d_orders = Set -365,0; d_returns = Set -365,0
WITH all_sales AS (
  SELECT day, item_id, sum(cnt) AS cnt FROM (
    SELECT o.dt AS day, o.item_id, o.qty - coalesce(r.qty, 0) AS cnt
    FROM d_orders AS o LEFT JOIN d_returns AS r ON r.order_id = o.order_id AND r.dt = o.dt
  ) AS detail GROUP BY day, item_id
)
SELECT c.item_id, c.cnt - p.cnt FROM all_sales AS c JOIN all_sales AS p ON p.item_id = c.item_id
WHERE c.day = :biz_date AND p.day = date_sub(:biz_date, 365) AND c.cnt < p.cnt;

-- case: tpcds_78_unreturned
-- reads: d_orders = Range -6..0; d_returns = Range -6..0
WITH ss AS (
  SELECT o.dt AS sold, o.user_id, sum(o.qty) AS qty
  FROM d_orders AS o LEFT JOIN d_returns AS r ON r.order_id = o.order_id AND r.dt BETWEEN o.dt AND :biz_date
  WHERE r.order_id IS NULL GROUP BY o.dt, o.user_id
)
SELECT * FROM ss WHERE sold BETWEEN date_sub(:biz_date, 6) AND :biz_date;

-- case: tpcds_93_reasons
-- reads: d_orders = Set 0; d_returns = Range 0..30
SELECT user_id, sum(act) FROM (
  SELECT o.user_id, CASE WHEN r.qty IS NOT NULL THEN (o.qty - r.qty) * o.price ELSE o.qty * o.price END AS act
  FROM d_orders AS o LEFT OUTER JOIN d_returns AS r ON r.order_id = o.order_id AND r.dt BETWEEN o.dt AND date_add(o.dt, 30)
  WHERE o.dt = :biz_date
) AS t GROUP BY user_id;

-- case: tpcds_97_overlap
-- reads: d_orders = Range -6..0; d_clicks = Range -6..0
WITH ssci AS (SELECT user_id, item_id FROM d_orders WHERE dt BETWEEN date_sub(:biz_date, 6) AND :biz_date GROUP BY user_id, item_id),
csci AS (SELECT user_id, item_id FROM d_clicks WHERE dt BETWEEN date_sub(:biz_date, 6) AND :biz_date GROUP BY user_id, item_id)
SELECT sum(CASE WHEN ssci.user_id IS NOT NULL AND csci.user_id IS NULL THEN 1 ELSE 0 END) AS store_only
FROM ssci FULL OUTER JOIN csci ON ssci.user_id = csci.user_id AND ssci.item_id = csci.item_id;

-- case: slowly_changing_by_snapshots
-- reads: d_users = Set -1,0
SELECT n.user_id, CASE WHEN o.user_id IS NULL THEN 'new' WHEN n.city <> o.city THEN 'moved' ELSE 'same' END AS change
FROM (SELECT * FROM d_users WHERE dt = :biz_date) AS n
LEFT JOIN (SELECT * FROM d_users WHERE dt = date_sub(:biz_date, 1)) AS o ON o.user_id = n.user_id;

-- case: incremental_merge_into_full
-- reads: d_total = Set -1; d_orders = Set 0
SELECT user_id, balance FROM (
  SELECT *, row_number() OVER (PARTITION BY user_id ORDER BY is_new DESC) AS rn FROM (
    SELECT user_id, balance, 0 AS is_new FROM d_total WHERE dt = date_sub(:biz_date, 1)
    UNION ALL
    SELECT user_id, amount, 1 FROM d_orders WHERE dt = :biz_date
  )
) WHERE rn = 1;

-- case: retention_matrix
-- reads: d_users = Set -30,-7,-3,-1; d_clicks = Set 0
SELECT datediff(:biz_date, u.dt) AS after, count(DISTINCT u.user_id) AS registered, count(DISTINCT c.user_id) AS active
FROM d_users AS u LEFT JOIN d_clicks AS c ON c.user_id = u.user_id AND c.dt = :biz_date
WHERE datediff(:biz_date, u.dt) IN (1, 3, 7, 30) GROUP BY u.dt;

-- case: sessions_across_midnight
-- reads: h_clicks = Range -2..23
SELECT user_id, min(at) AS started FROM (
  SELECT user_id, at FROM h_clicks WHERE dt = :biz_date
  UNION ALL
  SELECT user_id, at FROM h_clicks WHERE dt = date_sub(:biz_date, 1) AND hour IN ('22', '23')
) GROUP BY user_id;

-- case: funnel
-- reads: d_clicks = Range -2..0; d_orders = Set 0; d_users = Set 0
WITH visits AS (SELECT user_id, max(dt) AS last_visit FROM d_clicks WHERE dt >= date_sub(:biz_date, 2) AND dt <= :biz_date GROUP BY user_id),
buys AS (SELECT user_id, count(*) AS orders FROM d_orders WHERE dt = :biz_date GROUP BY user_id)
SELECT u.channel, count(v.user_id) AS visitors, count(b.user_id) AS buyers
FROM (SELECT user_id, channel FROM d_users WHERE dt = :biz_date AND NOT is_test) AS u
LEFT JOIN visits AS v ON v.user_id = u.user_id
LEFT JOIN buys AS b ON b.user_id = v.user_id GROUP BY u.channel;

-- case: same_weekdays_of_four_weeks
-- reads: d_orders = Set -28,-21,-14,-7,0
SELECT avg(amount) FROM (
  SELECT dt, sum(amount) AS amount FROM d_orders
  WHERE dt BETWEEN date_sub(:biz_date, 28) AND :biz_date AND dayofweek(dt) = dayofweek(:biz_date) GROUP BY dt
);

-- case: orders_with_the_rate_of_their_day
-- reads: d_orders = Range -6..0; d_rates = Range -6..0
SELECT o.order_id, o.amount * r.rate AS eur
FROM d_orders AS o JOIN d_rates AS r ON r.currency = o.currency AND r.dt = o.dt
WHERE o.dt > :biz_date - INTERVAL 1 WEEK AND o.dt <= :biz_date;

-- case: a_month_of_hours
-- down: month
-- reads: h_clicks = all
SELECT trunc(dt, 'MM') AS month, count(*) FROM h_clicks
WHERE dt BETWEEN :biz_date AND last_day(:biz_date) AND hour >= '00' GROUP BY trunc(dt, 'MM');

-- case: hour_against_yesterdays_hours
-- down: hour
-- reads: h_clicks = Set 0; h_orders = date -1 day
SELECT * FROM h_clicks AS c LEFT JOIN h_orders AS o ON o.dt = date_sub(c.dt, 1) AND o.hour = c.hour
WHERE c.dt = :biz_date AND c.hour = :biz_hour;

-- case: four_levels_down
-- reads: d_orders = Set -1,0; d_items = Set 0; d_stores = Set 0
SELECT * FROM (
  SELECT city, total FROM (
    SELECT s.city, x.total FROM (
      SELECT i.store_id, sum(y.amount) AS total FROM (
        SELECT item_id, amount FROM d_orders WHERE dt IN (:biz_date, :biz_date - 1)
      ) AS y JOIN d_items AS i USING (item_id) WHERE i.dt = :biz_date GROUP BY i.store_id
    ) AS x JOIN d_stores AS s ON s.store_id = x.store_id AND s.dt = :biz_date
  )
) WHERE total > 0;
