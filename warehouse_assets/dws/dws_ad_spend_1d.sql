SELECT
  channel,
  sum(clicks) AS clicks,
  sum(cost)   AS cost
FROM partner_ads
WHERE dt = :biz_date
GROUP BY channel
