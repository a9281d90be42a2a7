"""Reads change records from files or Kafka. Both envelopes, Debezium's and Canal's, become one form of record."""
