"""What a person does in the Dagster UI, by a browser on the whole recording: partitions, backfills, every asset."""

from __future__ import annotations

import datetime as dt
import json
import lzma
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import dagster as dg
import pyarrow as pa
import pytest

from tests.components.availability import require
from tests.ui.browser import CHROMIUM
from tests.ui.tidemark import RunningUi, tidemark_up
from tests.world import WHOLE
from tidemark.console.project_files import SAMPLE
from tidemark.dagster.assets import build_assets
from tidemark.olap import open_store
from tidemark.system.settings import Settings
from tidemark.warehouse.dagster_partition_keys import period_of
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.ui.dagster_pages import DagsterPages
    from tests.ui.dagster_runs import RunsByGraphql
    from tests.world import DemoWorld, World

pytestmark = [
    pytest.mark.components,
    pytest.mark.spark,
    pytest.mark.long,
    pytest.mark.xdist_group(WHOLE),
    pytest.mark.timeout(2400),
]

DAYS = ("2026-03-23", "2026-03-24")
_RUN_SECONDS = 240.0
_ROWS = 8
"""The catalog draws the rows alone that are in sight."""
_ROWS_PREVIEWED = 8
_BACKFILL_SECONDS = 420.0


@pytest.fixture(scope="module")
def world(whole_demo_world: DemoWorld) -> World:
    require(CHROMIUM)
    return whole_demo_world.world


@pytest.fixture(scope="module")
def ui(world: World) -> Iterator[RunningUi]:
    with tidemark_up(world) as running:
        yield running


def test_a_partitions_page_tells_of_that_partition(pages: DagsterPages) -> None:
    """Its rows, not another day's, and its drawing to be seen without a button."""
    # The list of partitions names another day, and the first one stands below the bar, too.
    for day, other, times in ((*DAYS, 1), (*DAYS[::-1], 2)):
        pages.open_partition("ads_gmv_course", day)
        pages.until(f"the metadata of {day}", lambda: "column_schema" in pages.text())
        assert pages.text().count(day) > _ROWS_PREVIEWED
        assert pages.text().count(other) == times
        assert pages.drawings() == 1
        pages.shot(f"partition-{day}")


def test_a_partition_is_materialized_from_the_assets_page(pages: DagsterPages, runs: RunsByGraphql) -> None:
    day = "2026-03-24"
    known = set(runs.runs())
    before = runs.materialized_at("ads_active_users", [day])

    pages.materialize("ads_active_users", day)
    runs.new_run_succeeds(known, _RUN_SECONDS)

    assert runs.materialized_at("ads_active_users", [day])[day] > before[day]
    pages.open_partition("ads_active_users", day)
    pages.until("the partition's metadata", lambda: "row_count" in pages.text())
    pages.shot("materialized")


def test_a_backfill_of_two_days_leaves_the_databases_own_figures(
    pages: DagsterPages, runs: RunsByGraphql, world: World
) -> None:
    """The figures are spoiled first, so that only the backfill can have put them right."""
    targets = ("ads_gmv_course", "olap_ads_gmv_course")
    _spoil(world, "ads_gmv_course")
    known = set(runs.backfills())
    before = {target: runs.materialized_at(target, list(DAYS)) for target in targets}

    pages.materialize_from_catalog(f"[{DAYS[0]}...{DAYS[-1]}]", *targets)
    runs.new_backfill_succeeds(known, _BACKFILL_SECONDS)

    pages.open_backfills()
    pages.until("the backfill's success", lambda: "Success" in pages.text())
    pages.shot("backfill")
    for target in targets:
        after = runs.materialized_at(target, list(DAYS))
        assert all(after[day] > before[target][day] for day in DAYS), (target, before, after)
    for day in DAYS:
        assert _published_rows(world, "ads_gmv_course", day) == _oracle("ads_gmv_course", day)
    pages.open_partition("ads_gmv_course", DAYS[-1])
    assert pages.partition_counts()["Materialized"] >= len(DAYS)
    pages.shot("partitions")


@pytest.mark.parametrize("period", ["hour", "day", "week", "month"])
def test_every_asset_is_backfilled_from_the_catalog(pages: DagsterPages, runs: RunsByGraphql, period: str) -> None:
    """The last two partitions of each asset, those with the same partitions launched together."""
    for names, keys in _launched_together(period):
        known_runs, known_backfills = set(runs.runs()), set(runs.backfills())
        before = {name: runs.materialized_at(name, keys) for name in names}

        pages.materialize_from_catalog(f"[{keys[0]}...{keys[-1]}]" if len(keys) > 1 else keys[0], *names)
        if len(keys) > 1:
            runs.new_backfill_succeeds(known_backfills, _BACKFILL_SECONDS)
        else:
            runs.new_run_succeeds(known_runs, _RUN_SECONDS)

        for name in names:
            after = runs.materialized_at(name, keys)
            assert all(after[key] > before[name][key] for key in keys), (name, before, after)


def _launched_together(period: str) -> list[tuple[list[str], list[str]]]:
    """Assets of a period by their partitions, as many as a page shows: (names, the last two keys).

    Those with regions are asked for two dimensions: another test.
    """
    warehouse = load_warehouse(Settings.load())
    by_partitions: dict[tuple[str, ...], list[str]] = {}
    for asset in build_assets(warehouse):
        for key in asset.keys if asset.is_materializable else ():
            name, partitions = key.to_user_string(), asset.partitions_def
            if isinstance(partitions, dg.MultiPartitionsDefinition):
                continue
            assert isinstance(partitions, dg.TimeWindowPartitionsDefinition)
            if period_of(warehouse.graph, name.removeprefix("olap_")) == period:
                by_partitions.setdefault(tuple(partitions.get_partition_keys()[-2:]), []).append(name)
    return [
        (names[start : start + _ROWS], list(keys))
        for keys, names in by_partitions.items()
        for start in range(0, len(names), _ROWS)
    ]


def _spoil(world: World, table: str) -> None:
    store = open_store("duckdb", world.data)
    for day in DAYS:
        partition = {"dt": dt.date.fromisoformat(day)}
        spoiled = store.read(table, partition)
        amounts = pa.array([Decimal("0.01")] * spoiled.num_rows, spoiled.schema.field("gmv").type)
        position = spoiled.schema.get_field_index("gmv")
        store.publish(table, spoiled.set_column(position, spoiled.schema.field("gmv"), amounts), partition)
        assert _published_rows(world, table, day) != _oracle(table, day)


def _published_rows(world: World, table: str, day: str) -> list[dict[str, Any]]:
    rows = open_store("duckdb", world.data).read(table, {"dt": dt.date.fromisoformat(day)}).drop_columns("dt")
    return _in_order([{name: _as_text(value) for name, value in row.items()} for row in rows.to_pylist()])


def _oracle(table: str, day: str) -> list[dict[str, Any]]:
    """What the source database answered when it was recorded."""
    with lzma.open(SAMPLE / "oracle.json.xz", "rt", encoding="utf-8") as file:
        metrics = json.load(file)["metrics"]
    return _in_order(next(answer["rows"] for answer in metrics if (answer["entity"], answer["slice"]) == (table, day)))


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, Decimal) else value


def _in_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: int(row["course_id"]))
