"""A table's log as delta-rs reads it, wherever the table is."""

from deltalake import DeltaTable

from tidemark.system.table_location import ObjectLocation, TableLocation


def open_table(path: TableLocation, version: int | None = None) -> DeltaTable:
    """The table at `version`, the newest by default. Raises deltalake's own errors."""
    return DeltaTable(str(path), version=version, storage_options=delta_rs_options(path))


def delta_rs_options(path: TableLocation) -> dict[str, str] | None:
    """What delta-rs needs beside the path of a table in order to open or write it."""
    return path.storage_options if isinstance(path, ObjectLocation) else None
