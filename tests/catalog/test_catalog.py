"""What the catalog answers, from the store alone."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from tests.catalog.lake import DAYS, NOW, Lake
from tests.center.test_center import CenterWorld
from tests.lake_folder import lake_folder
from tidemark.catalog.catalog import Catalog
from tidemark.catalog.slice_counts import note_counts, slice_counts
from tidemark.center.fact import Fact
from tidemark.console.main import main
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event
from tidemark.errors import UnknownEntityError
from tidemark.state_store.lease import Lease
from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot
from tidemark.state_store.transition import Facts
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

FIRST, SECOND, THIRD = DAYS


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """Three days of sales, reconciled; the report of the first was made of them."""
    lake = Lake(tmp_path)
    for number, day in enumerate(DAYS):
        lake.write(day, list(range(number + 1)))
    lake.tell(FIRST, 0, 1, entity="reports")
    lake.poll()
    return lake


def test_an_entry_tells_slices_rows_size_schema_owner_and_last_reader(lake: Lake) -> None:
    entry = {entry.entity: entry for entry in lake.catalog.entries()}["sales"]
    assert (entry.slices.completed, entry.slices.newest, entry.owner) == (3, THIRD, "data@school.example")
    assert (entry.rows, entry.files, entry.table_version, entry.columns) == (6, 3, 2, 2)
    assert entry.size_bytes == sum(file.stat().st_size for file in lake_folder(lake.path).glob("dt=*/*.parquet"))
    assert entry.last_reader is not None
    assert (entry.last_reader.slice, entry.last_reader.at) == (f"reports@{FIRST}", NOW)


def test_an_external_table_has_the_rows_and_the_version_that_were_reported(tmp_path: Path) -> None:
    world = CenterWorld(tmp_path, clicks="{period: day, kind: Virtual, columns: [city, cost]}", ads="period: day")
    for number, day in enumerate((1, 2, 3), 1):
        told = Facts(row_count=10 * number, snapshot_id=str(number))
        world.tell(f"clicks@2024-06-0{day}", "observed", event_id=f"{day}", data=told)
    again = Facts(row_count=7, snapshot_id="4")
    world.tell("clicks@2024-06-01", "observed", event_id="again", replaces=True, data=again)
    world.tell("clicks@2024-06-03", "deleted")
    entry = {entry.entity: entry for entry in Catalog(world.graph, world.store.database).entries()}["clicks"]
    assert (entry.rows, entry.table_version, entry.columns, entry.slices.completed) == (27, 4, 2, 2)


def test_it_is_answered_where_the_tables_are_gone(lake: Lake) -> None:
    before = lake.catalog.page("sales")
    shutil.rmtree(lake_folder(lake.path))
    assert lake.catalog.page("sales") == before


def test_a_page_has_the_newest_slices_and_goes_on_before_a_key(lake: Lake) -> None:
    page = lake.catalog.page("sales", most=2)
    assert [(slice_.slice.key, slice_.rows, slice_.files, slice_.version) for slice_ in page.slices] == [
        (THIRD, 3, 1, 2),
        (SECOND, 2, 1, 1),
    ]
    assert [slice_.slice.key for slice_ in lake.catalog.page("sales", 2, SECOND).slices] == [FIRST]
    assert [(schema.version, dict(schema.columns)) for schema in page.schemas] == [
        (0, {"dt": "date", "amount": "long"})
    ]
    with pytest.raises(UnknownEntityError):
        lake.catalog.page("sale")


def test_each_schema_has_its_first_version(lake: Lake) -> None:
    import pyarrow as pa
    from deltalake import write_deltalake

    wider = pa.table({"dt": pa.array([NOW.date()]), "amount": [1], "city": ["Lyon"]})
    write_deltalake(lake_folder(lake.path), wider, mode="append", schema_mode="merge")
    lake.poll()
    lake.restore(1)
    lake.poll()
    told = [(schema.version, sorted(schema.columns)) for schema in lake.catalog.page("sales").schemas]
    assert told[:2] == [(0, ["amount", "dt"]), (3, ["amount", "city", "dt"])]


def test_flaws_are_counted(lake: Lake) -> None:
    lake.delete(FIRST)
    lake.commit(SECOND, [9])
    lake.poll()
    entries = {entry.entity: entry.slices for entry in lake.catalog.entries()}
    sales = entries["sales"]
    assert (sales.completed, sales.absent, sales.foreign) == (2, 1, 1)
    (second,) = [slice_ for slice_ in lake.catalog.page("sales").slices if slice_.slice.key == SECOND]
    assert (second.valid, second.states) == (False, ("completed", "foreign"))


def test_counts_of_before_and_what_happened_since_are_the_counts_of_now(lake: Lake) -> None:
    database = lake.store.database
    note_counts(database)
    noted = slice_counts(database)
    assert note_counts(database) == 0, "nothing has happened since"
    lake.delete(FIRST)
    lake.poll()
    now = slice_counts(database)
    assert (noted["sales"].absent, now["sales"].absent) == (0, 1)
    assert now["reports"].last_run == noted["reports"].last_run
    assert slice_counts(database, ["sales"]) == {"sales": now["sales"]}
    assert note_counts(database) >= 1
    assert slice_counts(database) == now


def test_a_captured_table_counts_its_tags(lake: Lake) -> None:
    tag = TaggedSnapshot("sales", "day", THIRD, 2, 6, NOW)
    SnapshotRegistry(lake.store.database).tag([tag])
    (entry,) = [entry for entry in lake.catalog.entries() if entry.entity == "sales"]
    assert entry.snapshots == 1


def test_before_anything_happened_there_is_nothing(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    entries = Catalog(lake.warehouse.graph, lake.store.database).entries()
    assert {entry.entity: (entry.slices.completed, entry.rows) for entry in entries}["sales"] == (0, None)


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("TIDEMARK_DATA", str(tmp_path))
    return Settings.at(tmp_path)


def catalog(*arguments: str, exit_code: int = 0) -> str:
    result = CliRunner().invoke(main, ["catalog", *arguments])
    assert result.exit_code == exit_code, result.output
    return result.stdout


def test_the_command_shows_the_project(settings: Settings) -> None:
    told: dict[str, Any] = json.loads(catalog("--json"))
    assert {"ods_orders", "ads_gmv_course"} <= {entry["entity"] for entry in told["entities"]}
    assert "ods_orders" in catalog()
    page = catalog("ods_orders", "--markdown").splitlines()
    assert page[0].startswith("| layer | entity | owner |")
    assert page[1].startswith("| --- |")
    assert json.loads(catalog("ods_orders", "--json"))["entity"]["entity"] == "ods_orders"
    catalog("ods_order", exit_code=1)
    catalog("--verify", exit_code=2)


def test_the_command_reconciles_where_no_center_does(settings: Settings) -> None:
    told = json.loads(catalog("--reconcile", "--json"))["reconciled"]
    assert (told["is_whole"], told["troubles"]) == (True, [])
    from tidemark.state_store.database import Database

    Lease(Database.of(settings), "a center", 60.0).hold()
    result = CliRunner().invoke(main, ["catalog", "--reconcile"])
    assert (result.exit_code, "another center is active" in result.output) == (75, True)


def test_a_report_without_a_run_is_not_a_reader(lake: Lake) -> None:
    before = lake.catalog.page("sales").entry.last_reader
    fact = Fact("kept", Slice("reports", SECOND), Event.COMPLETED, NOW, "test", data=Facts())
    lake.center.report([fact])
    assert lake.catalog.page("sales").entry.last_reader == before
