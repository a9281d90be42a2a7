SELECT count(*) AS mau
FROM dws_user_activity_1m
WHERE dt = :biz_date
