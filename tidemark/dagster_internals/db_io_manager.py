"""Dagster's I/O manager of tables, on which `dagster-deltalake` is built."""

from dagster._core.storage.db_io_manager import DbIOManager

__all__ = ["DbIOManager"]
