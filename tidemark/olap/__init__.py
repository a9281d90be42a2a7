"""Publishes finished partitions for BI tools: in an embedded DuckDB file, or in a PostgreSQL database (B8).

store = open_store(settings.olap, settings.data)
store.publish("ads_gmv_course", rows, {"dt": date(2026, 3, 29)})
"""

from tidemark.olap.open_store import open_store
from tidemark.olap.store import OlapStore, Publication

__all__ = ["OlapStore", "Publication", "open_store"]
