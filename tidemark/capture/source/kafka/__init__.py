"""Records straight from Kafka: each instance's topic has one partition, so that its offsets are the binlog's order."""
