"""The profile of a slice from its Parquet files, a column at a time, in the format of Spark's aggregates."""
