"""Real servers on this machine from packages: MariaDB, Kafka, Kafka Connect with Debezium.

For `tidemark up-kafka` and for tests. All listen only on loopback.
"""
