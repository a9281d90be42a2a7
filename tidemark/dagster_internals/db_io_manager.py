"""Dagster's I/O manager for tables, the base of `dagster-deltalake`."""

from dagster._core.storage.db_io_manager import DbIOManager

__all__ = ["DbIOManager"]
