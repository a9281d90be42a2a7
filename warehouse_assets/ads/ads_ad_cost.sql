SELECT
  s.channel,
  s.clicks,
  s.cost,
  coalesce(n.new_users, 0) AS new_users,
  CAST(round(s.cost / n.new_users, 2) AS DECIMAL(12, 2)) AS cost_per_user
FROM (
  SELECT channel, sum(clicks) AS clicks, CAST(sum(cost) AS DECIMAL(12, 2)) AS cost
  FROM dws_ad_spend_1d
  WHERE dt = :biz_date
  GROUP BY channel
) AS s
LEFT JOIN (
  SELECT channel, count(*) AS new_users
  FROM dwd_new_users
  WHERE dt = :biz_date
  GROUP BY channel
) AS n
  ON n.channel = s.channel
