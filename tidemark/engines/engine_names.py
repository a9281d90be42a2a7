"""The names of the engines as users write them; `delta` is delta-rs."""

from typing import Final

ENGINES: Final = ("delta", "duckdb", "polars", "clickhouse", "spark", "trino", "flink")
ICEBERG_ENGINES: Final = ("iceberg", "iceberg-duckdb", "iceberg-spark")
"""Readers of Iceberg's metadata; `iceberg` is PyIceberg."""
