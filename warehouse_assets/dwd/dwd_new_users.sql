SELECT
  u.user_id,
  nullif(trim(u.nickname), '') AS nickname,
  u.city,
  u.channel,
  u.registered_at
FROM ods_users AS u
WHERE u.dt = :biz_date
  AND to_date(u.registered_at) = :biz_date
