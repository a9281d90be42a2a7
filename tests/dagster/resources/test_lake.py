"""A plain asset reads slices by the lake resource: snapshots at their tagged version, computed tables by partition."""

from datetime import UTC, date, datetime

import dagster as dg
import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.compute.small_warehouse import small_warehouse
from tests.lake_folder import lake_folder
from tidemark.compute.errors import SnapshotMissingError, SnapshotRestatedError
from tidemark.dagster.resources.lake import LakeResource
from tidemark.dagster.resources.state_store import StateStoreResource
from tidemark.errors import UnknownEntityError
from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot

CAPTURED = "kind: Snapshot\nperiod: day\nsource: {table: school.users, instances: [a]}\nkey: [id]\n"
HOURLY = "kind: Snapshot\nperiod: hour\nsnapshot_of: users\n"
DAYS = dg.DailyPartitionsDefinition("2026-03-23", timezone="Europe/Paris")


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> LakeResource:
    """Users in versions 0 to 2, of which 1 is the 23rd; sales of two days."""
    folder = tmp_path_factory.mktemp("lake")
    warehouse = small_warehouse(folder, {"users": (CAPTURED, ""), "users_1h": (HOURLY, "")})
    users, registry = warehouse.table_path("users"), SnapshotRegistry.at(warehouse.settings.state_db)
    for count in (2, 4, 3):
        write_deltalake(lake_folder(users), pa.table({"id": list(range(count))}), mode="overwrite")
    sales = pa.table({"amount": [10, 20], "dt": [date(2026, 3, 23), date(2026, 3, 24)]})
    write_deltalake(lake_folder(warehouse.table_path("sales")), sales, partition_by=["dt"])
    at = datetime(2026, 3, 25, tzinfo=UTC)
    registry.tag(
        [
            TaggedSnapshot("users", "day", "2026-03-23", 1, 4, at),
            TaggedSnapshot("users", "day", "2026-03-24", 2, 3, at),
            TaggedSnapshot("users_1h", "hour", "2026-03-24T07", 1, 4, at),
            TaggedSnapshot("users", "day", "2026-03-25", 2, 3, at, late_batch=5),
            TaggedSnapshot("users", "day", "2026-03-26", 2, 3, at, late_until=9),
        ]
    )
    of_settings = LakeResource.of(warehouse.settings, StateStoreResource.of(warehouse.settings))
    return LakeResource(
        tables=of_settings.tables,
        data=of_settings.data,
        declarations=str(folder / "declared"),
        state_store=of_settings.state_store,
    )


def test_a_plain_asset_reads_the_slice_of_its_partition(lake: LakeResource) -> None:
    @dg.asset(partitions_def=DAYS, deps=["users", "sales"])
    def report(context: dg.AssetExecutionContext, lake: LakeResource) -> dg.MaterializeResult[None]:
        users, sales = lake.read("users", context.partition_key), lake.read("sales", context.partition_key)
        return dg.MaterializeResult(metadata={"users": users.num_rows, "amount": sales["amount"].to_pylist()})

    told = []
    for day in ("2026-03-23", "2026-03-24"):
        with dg.DagsterInstance.ephemeral() as instance:
            resources = {"lake": lake, "state_store": lake.state_store}
            result = dg.materialize([report], partition_key=day, resources=resources, instance=instance)
        metadata = result.asset_materializations_for_node("report")[0].metadata
        told.append((metadata["users"].value, metadata["amount"].value))
    assert told == [(4, [10]), (3, [20])]


def test_the_table_is_open_at_the_tagged_version(lake: LakeResource) -> None:
    assert lake.table("users", "2026-03-23").version() == 1
    assert lake.table("users_1h", "2026-03-24-07:00").version() == 1
    assert lake.table("sales", "2026-03-23").version() == 0


def test_a_snapshot_without_a_single_version_is_refused(lake: LakeResource) -> None:
    with pytest.raises(SnapshotMissingError, match="not complete"):
        lake.read("users", "2026-03-27")
    with pytest.raises(SnapshotMissingError, match="late events"):
        lake.read("users", "2026-03-26")
    with pytest.raises(SnapshotRestatedError, match=r"tidemark\.reader"):
        lake.read("users", "2026-03-25")
    with pytest.raises(UnknownEntityError):
        lake.read("nobody", "2026-03-25")
