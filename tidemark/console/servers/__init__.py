"""Real servers on this machine from packages: MariaDB, Kafka, Kafka Connect with Debezium; started and stopped by us.

For `tidemark up-kafka` and for the tests. All listen on loopback only.
"""
