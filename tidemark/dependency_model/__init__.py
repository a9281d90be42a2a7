"""The pure core of Tidemark: which slices a slice needs, and which slices need it.

Nothing here knows Dagster, Spark, a database or a clock: values come in, values go out.
"""
