"""Where tests have their tables: on disk, or with TIDEMARK_TEST_LAKE=s3, =gs, =abfss or =hdfs on a real server.

Tests look into a table's folder, which the engine does not: S3's and Google's servers keep their objects in one,
too. HDFS and Azure's have none: what is to hold there as well looks by `stored_files`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from deltalake import DeltaTable

from tidemark.delta.open_table import delta_rs_options
from tidemark.system.azure_access import AzureAccess
from tidemark.system.table_location import HdfsLocation

if TYPE_CHECKING:
    from tidemark.system.table_location import TableLocation

LAKE: Final = "TIDEMARK_TEST_LAKE"
BUCKETS: Final = "TIDEMARK_TEST_BUCKETS"
"""Where a running object store keeps its buckets."""
_FIXTURES: Final = {"s3": "object_store", "gs": "gcs", "abfss": "azure", "hdfs": "hdfs"}


def lake_server() -> str | None:
    """The fixture of the server on which this run of tests has its tables; None for the disk."""
    return _FIXTURES.get(os.environ.get(LAKE, ""))


def lake_folder(location: TableLocation) -> Path:
    """The same place as a path; HDFS and Azure have none."""
    if isinstance(location, Path):
        return location
    hint = "look there by stored_files"
    assert not isinstance(location, HdfsLocation), hint
    assert not isinstance(location.access, AzureAccess), hint
    return Path(os.environ[BUCKETS], location.bucket, location.key)


def table_of_others(location: TableLocation) -> DeltaTable:
    """The table as a program of others opens it, by delta-rs, which nothing of ours keeps."""
    return DeltaTable(str(location), storage_options=delta_rs_options(location))
