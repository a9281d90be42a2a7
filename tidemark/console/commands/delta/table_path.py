"""Where tables are that commands name."""

from __future__ import annotations

from pathlib import Path


def table_path(table: str) -> Path:
    """A table's folder, by the entity's name or by a path to it. Raises NotADeltaTableError."""
    from tidemark.delta.file_statistics import require_table  # noqa: PLC0415 - keeps --help fast
    from tidemark.system.settings import Settings  # noqa: PLC0415

    path = Path(table).absolute() if "/" in table else Settings.load().warehouse / table
    require_table(path)
    return path
