-- What is known of day %(day)s at its end; later corrections do not change it.
INSERT INTO oracle.active
    SELECT %(day)s, user_id FROM oracle.orders WHERE DATE(paid_at) = %(day)s AND status = 'paid'
    UNION
    SELECT %(day)s, user_id FROM oracle.attendance WHERE lesson_date = %(day)s AND attended = 1;
INSERT INTO oracle.cohort
    SELECT %(day)s, user_id FROM school.users WHERE DATE(registered_at) = %(day)s;
INSERT INTO oracle.attendance_daily
    SELECT %(day)s, l.course_id, COUNT(*), SUM(t.attended)
    FROM oracle.attendance t JOIN school.lessons l ON l.lesson_id = t.lesson_id
    WHERE t.lesson_date = %(day)s AND l.status <> 'cancelled'
    GROUP BY l.course_id;
INSERT INTO oracle.gmv_daily
    SELECT %(day)s, course_id, COUNT(*), SUM(amount)
    FROM oracle.orders WHERE status = 'paid' AND DATE(paid_at) = %(day)s
    GROUP BY course_id;
