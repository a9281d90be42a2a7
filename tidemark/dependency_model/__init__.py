"""The pure core of Tidemark: which slices a slice needs, and which slices need it.

This package knows neither Dagster nor Spark, and reads no database and no clock. It takes values and returns values.
"""
