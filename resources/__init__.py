"""What the warehouse is computed with: Spark, Delta, capture, the state store, the OLAP store."""
