"""Paths of tables that commands name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidemark.system.table_location import TableLocation


def table_path(table: str) -> TableLocation:
    """The path of a table by its entity's name, or the path itself. Raises NotADeltaTableError, LocationError."""
    from tidemark.delta.file_statistics import require_table  # noqa: PLC0415 - keeps --help fast
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.system.table_location import table_location  # noqa: PLC0415

    path = table_location(table) if "/" in table else Settings.load().warehouse / table
    require_table(path)
    return path
