"""The engines by the names that people give them: `delta` is delta-rs."""

from typing import Final

ENGINES: Final = ("delta", "duckdb", "polars", "clickhouse", "spark", "trino", "flink")
