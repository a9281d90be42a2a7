"""Delta tables as functions over (SparkSession, path, ...): nothing here keeps state."""
