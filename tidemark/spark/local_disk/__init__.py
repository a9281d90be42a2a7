"""How Spark and Delta write to this machine's disk: Java classes, which `tidemark.spark.jars` compiles into one jar."""
