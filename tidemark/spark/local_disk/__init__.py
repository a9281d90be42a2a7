"""Java classes with which Spark and Delta write to the local disk; `tidemark.spark.jars` compiles them into one jar."""
