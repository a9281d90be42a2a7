"""The folder of a lake that is on disk: tests look into it, which the engine does not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidemark.system.table_location import TableLocation


def lake_folder(location: TableLocation) -> Path:
    """The same place as a path."""
    assert isinstance(location, Path), f"{location} is not on disk"
    return location
