SELECT
  (SELECT count(*) FROM dws_user_activity_1d WHERE dt = :biz_date) AS dau,
  (SELECT count(*) FROM dws_user_activity_7d WHERE dt = :biz_date) AS wau
