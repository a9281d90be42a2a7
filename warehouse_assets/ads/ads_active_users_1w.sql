SELECT count(*) AS wau
FROM dws_user_activity_1w
WHERE dt = :biz_date
