WITH cohort AS (
  SELECT
    CASE n.dt WHEN date_sub(:biz_date, 1) THEN 'd1' ELSE 'd7' END AS name,
    count(*)         AS users,
    count(a.user_id) AS retained
  FROM dwd_new_users AS n
  LEFT JOIN dws_user_activity_1d AS a
    ON a.user_id = n.user_id AND a.dt = :biz_date
  WHERE n.dt IN (date_sub(:biz_date, 1), date_sub(:biz_date, 7))
  GROUP BY 1
)
SELECT
  max(users)    FILTER (WHERE name = 'd1') AS d1_cohort,
  max(retained) FILTER (WHERE name = 'd1') AS d1_retained,
  max(CAST(round(CAST(retained AS DECIMAL(20, 0)) / users, 4) AS DECIMAL(10, 4)))
    FILTER (WHERE name = 'd1')             AS d1_rate,
  max(users)    FILTER (WHERE name = 'd7') AS d7_cohort,
  max(retained) FILTER (WHERE name = 'd7') AS d7_retained,
  max(CAST(round(CAST(retained AS DECIMAL(20, 0)) / users, 4) AS DECIMAL(10, 4)))
    FILTER (WHERE name = 'd7')             AS d7_rate
FROM cohort
