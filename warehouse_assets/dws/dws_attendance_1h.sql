SELECT count(*) AS joins
FROM ods_lesson_attendance_1h
WHERE dt = :biz_date AND hour = :biz_hour
  AND to_date(joined_at) = :biz_date
  AND date_format(joined_at, 'HH') = :biz_hour
