"""Where tests have their tables: on disk, or with TIDEMARK_TEST_LAKE=s3 in a real object store.

Tests look into a table's folder, which the engine does not: the store keeps its objects in a folder, too.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tidemark.system.table_location import TableLocation

LAKE: Final = "TIDEMARK_TEST_LAKE"
BUCKETS: Final = "TIDEMARK_TEST_BUCKETS"
"""Where a running object store keeps its buckets."""


def is_in_object_store() -> bool:
    """Whether this run of tests has its tables there."""
    return os.environ.get(LAKE) == "s3"


def lake_folder(location: TableLocation) -> Path:
    """The same place as a path."""
    if isinstance(location, Path):
        return location
    return Path(os.environ[BUCKETS], location.bucket, location.key)
