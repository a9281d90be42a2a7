"""Plain assets read slices and write tables beside ours by dagster-deltalake's I/O manager, over the lake resource."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import dagster as dg
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from dagster_deltalake import DeltaLakePyarrowIOManager, LocalConfig

from tests.dagster.resources.test_lake import DAYS, lake
from tidemark.dagster.resources.lake_io_manager import LakeIOError, LakeIOManager
from tidemark.delta.delta_rs_table import read_rows
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dagster.resources.lake import LakeResource

__all__ = ["lake"]

IN_LAKE = "lake_io_manager"
USERS, SALES = (dg.AssetSpec(name, partitions_def=DAYS) for name in ("users", "sales"))


def materialized(lake: LakeResource, assets: Sequence[Any], day: str) -> dg.ExecuteInProcessResult:
    manager = LakeIOManager.of(Settings.at(lake.as_settings()["data"], warehouse=lake.tables), lake)
    with dg.DagsterInstance.ephemeral() as instance:
        return dg.materialize(
            [*assets, USERS, SALES],
            selection=[asset.key for asset in assets],
            partition_key=day,
            resources={IN_LAKE: manager, "io_manager": dg.mem_io_manager},
            instance=instance,
        )


def slices(kind: Any) -> Any:
    """An asset that returns both of its inputs as they came, loaded as a type."""

    def report(users: Any, sales: Any) -> Any:
        return users, sales

    report.__annotations__.update({"users": kind, "sales": kind})
    ins = {name: dg.AssetIn(input_manager_key=IN_LAKE) for name in ("users", "sales")}
    return dg.asset(report, partitions_def=DAYS, ins=ins)


def test_a_snapshot_is_read_at_its_tag_and_a_computed_table_by_its_partition(lake: LakeResource) -> None:
    read = {day: materialized(lake, [slices(pa.Table)], day).output_for_node("report") for day in _DAYS}
    assert {day: users.to_pydict() for day, (users, _) in read.items()} == {
        "2026-03-23": {"id": [0, 1, 2, 3], "dt": [date(2026, 3, 23)] * 4},
        "2026-03-24": {"id": [0, 1, 2], "dt": [date(2026, 3, 24)] * 3},
    }
    assert {day: sales.to_pydict() for day, (_, sales) in read.items()} == {
        "2026-03-23": {"amount": [10], "dt": [date(2026, 3, 23)]},
        "2026-03-24": {"amount": [20], "dt": [date(2026, 3, 24)]},
    }


_DAYS = ("2026-03-23", "2026-03-24")


@pytest.mark.parametrize("kind", [pd.DataFrame, ds.Dataset, pa.RecordBatchReader])
def test_a_slice_is_loaded_as_its_parameter_says(lake: LakeResource, kind: Any) -> None:
    _, sales = materialized(lake, [slices(kind)], "2026-03-23").output_for_node("report")
    assert isinstance(sales, kind)
    rows = sales.to_dict("list") if kind is pd.DataFrame else _read(sales).to_pydict()
    assert rows["amount"] == [10]


def _read(rows: Any) -> pa.Table:
    return rows.to_table() if isinstance(rows, ds.Dataset) else rows.read_all()


def test_another_type_is_refused_with_the_types_that_are_known(lake: LakeResource) -> None:
    with pytest.raises(LakeIOError) as caught:
        materialized(lake, [slices(dict)], "2026-03-23")
    assert "pandas.DataFrame" in str(caught.value.expected)


def test_several_partitions_are_one_table_with_their_days(lake: LakeResource) -> None:
    """The partition mapping of Dagster says which days an asset reads: here its day and the one before."""

    @dg.asset(
        partitions_def=DAYS,
        ins={
            "sales": dg.AssetIn(
                input_manager_key=IN_LAKE, partition_mapping=dg.TimeWindowPartitionMapping(start_offset=-1)
            )
        },
    )
    def two_days(sales: pa.Table) -> pa.Table:
        return sales

    rows = materialized(lake, [two_days], "2026-03-24").output_for_node("two_days")
    assert rows.sort_by("dt").to_pydict() == {"amount": [10, 20], "dt": [date(2026, 3, 23), date(2026, 3, 24)]}


@pytest.mark.filterwarnings("ignore:The 'warn' method is deprecated")  # the package's, where it counts no rows
def test_an_asset_writes_its_partitions_and_the_next_one_reads_them(lake: LakeResource) -> None:
    @dg.asset(
        partitions_def=DAYS,
        key_prefix="reports",
        io_manager_key=IN_LAKE,
        metadata={"partition_expr": "dt"},
        ins={"sales": dg.AssetIn(input_manager_key=IN_LAKE)},
    )
    def doubled(sales: pd.DataFrame) -> pd.DataFrame:
        return sales.assign(amount=sales["amount"] * 2)

    @dg.asset(partitions_def=DAYS, ins={"doubled": dg.AssetIn(["reports", "doubled"])})
    def amounts(doubled: pa.Table) -> list[int]:
        return [int(amount) for amount in doubled["amount"].to_pylist()]

    outputs = [materialized(lake, [doubled, amounts], day).output_for_node("amounts") for day in (*_DAYS, *_DAYS)]
    assert outputs == [[20], [40], [20], [40]]
    written = read_rows(lake.as_settings()["warehouse"] / "reports" / "doubled")
    assert sorted(written["amount"].to_pylist()) == [20, 40], "a second run of a day replaces its rows"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the package's own, of pydantic
def test_the_packages_own_manager_reads_a_computed_table_by_the_metadata_of_its_asset(lake: LakeResource) -> None:
    """Our assets say which column tells a slice (`partition_expr`): no code of ours is needed to read them."""
    folder = lake.as_settings()["warehouse"]
    stock = DeltaLakePyarrowIOManager(root_uri=str(folder.parent), storage_options=LocalConfig(), schema=folder.name)
    sales = dg.AssetSpec("sales", partitions_def=DAYS, metadata={"partition_expr": "dt"})

    @dg.asset(partitions_def=DAYS, ins={"sales": dg.AssetIn(input_manager_key="stock")})
    def amounts(sales: pa.Table) -> list[int]:
        return [int(amount) for amount in sales["amount"].to_pylist()]

    with dg.DagsterInstance.ephemeral() as instance:
        result = dg.materialize(
            [amounts, sales],
            selection=[amounts.key],
            partition_key="2026-03-24",
            resources={"stock": stock},
            instance=instance,
        )
    assert result.output_for_node("amounts") == [20]
