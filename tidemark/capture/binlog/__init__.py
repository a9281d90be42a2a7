"""Is an instance's binlog whole and in order? Gaps, positions that go back, and redelivered records. No Spark."""
