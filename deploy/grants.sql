-- What Debezium needs beyond its own database, and Tidemark for the topics' first load.
GRANT SELECT, RELOAD, SHOW DATABASES, REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO 'tidemark'@'%';
