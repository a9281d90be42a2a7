"""Is an instance's binlog whole and in order? Gaps, positions that go back, and records that came again. No Spark."""
