"""VACUUM from the launchpad: a dry run by default, tagged versions stay, and deleted files are reported by table."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import dagster as dg
import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.compute.small_warehouse import small_warehouse
from tests.lake_folder import lake_folder
from tidemark.dagster.jobs.vacuum import tables, vacuum_job
from tidemark.dagster.resources import engine_resources
from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.warehouse.warehouse import Warehouse


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    """One partition of `sales`, written four times; version 1 has a tag."""
    declared = small_warehouse(tmp_path)
    for amount in range(4):
        rows = pa.table({"amount": [amount], "dt": [date(2026, 3, 23)]})
        write_deltalake(lake_folder(declared.table_path("sales")), rows, mode="overwrite", partition_by=["dt"])
    tag = TaggedSnapshot("sales", "name", "before", 1, 1, datetime(2026, 3, 25, tzinfo=UTC))
    SnapshotRegistry.at(declared.settings.state_db).tag([tag])
    return declared


def launch(warehouse: Warehouse, **config: object) -> dict[str, Any]:
    """What the job says of `sales`."""
    result = vacuum_job(warehouse).execute_in_process(
        run_config={"ops": {"vacuum_tables": {"config": {"keep_versions": 1, "keep_days": 0, **config}}}},
        resources=engine_resources(warehouse.settings),
    )
    (event,) = (event for event in result.all_events if event.is_asset_observation)
    observation = event.asset_observation_data.asset_observation
    assert observation.asset_key == dg.AssetKey("sales")
    return {name: value.value for name, value in observation.metadata.items()}


def parquet_files(warehouse: Warehouse) -> int:
    return len(list(lake_folder(warehouse.table_path("sales")).rglob("*.parquet")))


def test_a_dry_run_tells_and_deletes_nothing_then_the_files_go(warehouse: Warehouse) -> None:
    assert tables(warehouse) == ["sales"]
    before = parquet_files(warehouse)
    planned = launch(warehouse)
    assert (planned["dry_run"], planned["kept"], planned["files_deleted"]) == (True, [1, 3], 2)
    assert parquet_files(warehouse) == before
    done = launch(warehouse, entities=["sales"], dry_run=False)
    assert (done["dry_run"], done["kept"], done["files_deleted"]) == (False, [1, 3], 2)
    assert parquet_files(warehouse) == before - 2
