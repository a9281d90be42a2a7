"""The profile of a slice from its Parquet files, column by column, in the format of Spark's aggregates."""
