"""Reads records from Kafka. Each instance's topic has one partition, so its offsets have the order of the binlog."""
