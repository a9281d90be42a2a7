-- The oracle's own tables, on the third server only: what was known at each midnight, and the shards as one table.
CREATE DATABASE oracle;
CREATE TABLE oracle.active (day DATE, user_id BIGINT, PRIMARY KEY (day, user_id));
CREATE TABLE oracle.cohort (day DATE, user_id BIGINT, PRIMARY KEY (day, user_id));
CREATE TABLE oracle.attendance_daily (day DATE, course_id INT, seats INT, attended INT, PRIMARY KEY (day, course_id));
CREATE TABLE oracle.gmv_daily (day DATE, course_id INT, orders INT, gmv DECIMAL(14,2), PRIMARY KEY (day, course_id));
CREATE VIEW oracle.orders AS
    SELECT order_id, user_id, course_id, status, amount, paid_at FROM school.orders_0
    UNION ALL SELECT order_id, user_id, course_id, status, amount, paid_at FROM school.orders_1
    UNION ALL SELECT order_id, user_id, course_id, status, amount, paid_at FROM school.orders_2
    UNION ALL SELECT order_id, user_id, course_id, status, amount, paid_at FROM school.orders_3;
CREATE VIEW oracle.attendance AS
    SELECT lesson_id, user_id, lesson_date, attended, joined_at FROM school.lesson_attendance_0
    UNION ALL SELECT lesson_id, user_id, lesson_date, attended, joined_at FROM school.lesson_attendance_1
    UNION ALL SELECT lesson_id, user_id, lesson_date, attended, joined_at FROM school.lesson_attendance_2
    UNION ALL SELECT lesson_id, user_id, lesson_date, attended, joined_at FROM school.lesson_attendance_3;
