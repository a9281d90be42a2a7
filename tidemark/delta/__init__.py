"""Operations on Delta tables, as functions of (SparkSession, path, ...) without state of their own."""
