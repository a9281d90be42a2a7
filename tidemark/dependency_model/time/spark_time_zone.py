"""The time zone of Spark's sessions, which what is analysed and what runs have to agree on."""

from typing import Final

SPARK_TIME_ZONE: Final = "UTC"
"""Whatever the project's is: dates of timestamps, and timestamps of texts, go by it in a query."""
