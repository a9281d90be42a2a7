SELECT d1_cohort, d1_retained, ROUND(d1_retained / NULLIF(d1_cohort, 0), 4) AS d1_rate,
       d7_cohort, d7_retained, ROUND(d7_retained / NULLIF(d7_cohort, 0), 4) AS d7_rate
FROM (
    SELECT IF(%(day)s - INTERVAL 1 DAY < %(first_day)s, NULL,
              (SELECT COUNT(*) FROM oracle.cohort WHERE day = %(day)s - INTERVAL 1 DAY)) AS d1_cohort,
           IF(%(day)s - INTERVAL 1 DAY < %(first_day)s, NULL,
              (SELECT COUNT(*) FROM oracle.cohort c JOIN oracle.active a ON a.user_id = c.user_id AND a.day = %(day)s
               WHERE c.day = %(day)s - INTERVAL 1 DAY)) AS d1_retained,
           IF(%(day)s - INTERVAL 7 DAY < %(first_day)s, NULL,
              (SELECT COUNT(*) FROM oracle.cohort WHERE day = %(day)s - INTERVAL 7 DAY)) AS d7_cohort,
           IF(%(day)s - INTERVAL 7 DAY < %(first_day)s, NULL,
              (SELECT COUNT(*) FROM oracle.cohort c JOIN oracle.active a ON a.user_id = c.user_id AND a.day = %(day)s
               WHERE c.day = %(day)s - INTERVAL 7 DAY)) AS d7_retained
) counted
