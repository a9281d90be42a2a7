"""Checks that an instance's binlog is complete and in order: gaps, positions that go back, redelivered records.

The package does not use Spark, apart from `spark_positions`.
"""
