"""The rows of one slice for people who look, where the log is not what the tag says."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.compute.small_warehouse import small_warehouse
from tests.lake_folder import lake_folder
from tidemark.compute.read_slice_rows import slice_rows
from tidemark.compute.runtime import Runtime
from tidemark.delta.errors import VersionGoneError
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot

if TYPE_CHECKING:
    from pathlib import Path

CAPTURED = "kind: Snapshot\nperiod: day\nsource: {table: school.users, instances: [a]}\nkey: [id]\n"


@pytest.mark.parametrize("where", [None, "id > 0"])
def test_a_tag_beyond_the_end_of_the_log_is_a_clear_error(tmp_path: Path, where: str | None) -> None:
    """A lake of yesterday under a state store of today."""
    warehouse = small_warehouse(tmp_path, {"users": (CAPTURED, "")})
    write_deltalake(lake_folder(warehouse.table_path("users")), pa.table({"id": [1]}))
    tag = TaggedSnapshot("users", "day", "2026-03-23", 3, 1, datetime(2026, 3, 24, tzinfo=UTC))
    SnapshotRegistry.at(warehouse.settings.state_db).tag([tag])
    with pytest.raises(VersionGoneError, match="ends at version 0"):
        slice_rows(Runtime(warehouse), Slice("users", "2026-03-23"), where, 5)
