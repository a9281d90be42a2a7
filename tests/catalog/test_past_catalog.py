"""The catalog as of an instant is what it answered then."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from sqlalchemy import event

from tests.catalog.lake import DAYS, NOW, Lake
from tests.center.test_center import CenterWorld
from tidemark.catalog.catalog import Catalog
from tidemark.catalog.past_catalog import PastCatalog
from tidemark.console.main import main
from tidemark.errors import UnknownEntityError
from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot

if TYPE_CHECKING:
    from pathlib import Path


FIRST, SECOND, THIRD = DAYS
AN_HOUR = timedelta(hours=1)


def told(catalog: Catalog | PastCatalog) -> Any:
    """What is known of the past, too."""
    entries = [(entry.entity, entry.slices, entry.snapshots, entry.last_reader) for entry in catalog.entries()]
    own = [catalog.page(entity).entry for entity in ("sales", "reports")]
    entries += [(entry.entity, entry.slices, entry.snapshots, entry.last_reader) for entry in own]
    pages = [
        (
            *(slice_.slice, slice_.run_state, slice_.states, slice_.quality, slice_.valid),
            *(slice_.generation, slice_.version, slice_.run_id),
        )
        for entity in ("sales", "reports")
        for slice_ in catalog.page(entity).slices
    ]
    return entries, pages


def test_the_past_catalog_equals_the_answers_of_that_time(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    tag = TaggedSnapshot("sales", "day", FIRST, 1, 3, NOW + 3 * AN_HOUR)
    answers: list[tuple[datetime, Any]] = []

    def look() -> None:
        answers.append((lake.now + AN_HOUR / 2, told(lake.catalog)))
        lake.now += AN_HOUR

    lake.write(FIRST, [1])
    look()
    lake.write(SECOND, [1, 2])
    lake.tell(FIRST, 0, 1, entity="reports")
    lake.poll()
    look()
    lake.delete(FIRST)
    lake.poll()
    look()
    SnapshotRegistry(lake.store.database).tag([tag])
    look()
    lake.commit(SECOND, [9])
    lake.poll()
    look()
    lake.write(FIRST, [4, 5])
    lake.tell(FIRST, 4, 2, entity="reports")
    look()
    graph, database = lake.warehouse.graph, lake.store.database
    assert len({str(answer) for _, answer in answers}) == len(answers), "each step changes the answer"
    for when, answer in answers:
        assert told(PastCatalog(graph, database, when)) == answer
    empty = PastCatalog(graph, database, NOW - AN_HOUR)
    assert [entry.slices.completed for entry in empty.entries()] == [0] * len(empty.entries())
    assert empty.page("sales").slices == ()


def test_a_page_goes_on_before_a_key_and_tells_rows_and_no_sizes(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    for number, day in enumerate(DAYS, 1):
        lake.write(day, [1] * number)
    past = PastCatalog(lake.warehouse.graph, lake.store.database, NOW + AN_HOUR)
    assert [(slice_.slice.key, slice_.rows, slice_.files) for slice_ in past.page("sales", 2).slices] == [
        (THIRD, 3, None),
        (SECOND, 2, None),
    ]
    assert [slice_.slice.key for slice_ in past.page("sales", 2, SECOND).slices] == [FIRST]
    with pytest.raises(UnknownEntityError):
        past.page("sale")


def test_a_page_goes_by_the_index_to_its_own_entity_and_its_readers(tmp_path: Path) -> None:
    lake, asked = Lake(tmp_path), list[tuple[str, Any]]()
    lake.write(FIRST, [1])
    lake.tell(FIRST, 0, 1, entity="reports")
    engine = lake.store.database.engine
    event.listen(engine, "before_cursor_execute", lambda *told: asked.append((told[2], told[3])))
    page = PastCatalog(lake.warehouse.graph, lake.store.database, NOW + AN_HOUR).page("sales")
    assert page.entry.last_reader is not None
    statements = [told for told in asked if "EXPLAIN" not in told[0]]
    with engine.connect() as connection:
        steps = [
            row[3]
            for text, values in statements
            for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}", values)
        ]
    assert any("SEARCH transitions USING INDEX" in step for step in steps)
    assert [step for step in steps if step.startswith("SCAN") and "CONSTANT" not in step] == []


def test_parts_are_in_the_order_of_the_present_catalog(tmp_path: Path) -> None:
    world = CenterWorld(tmp_path, ods="{period: day, kind: Virtual, sub_partitions: {region: [cn, eu, us]}}")
    for day in ("2024-06-01", "2024-06-02"):
        for region in ("us", "cn", "eu"):
            world.tell(f"ods@{day}/region={region}", "observed")
    now, past = (Catalog(world.graph, world.store.database), PastCatalog(world.graph, world.store.database, world.now))
    for most, before in ((50, ""), (2, ""), (4, ""), (50, "2024-06-02")):
        shown = [slice_.slice for slice_ in past.page("ods", most, before).slices]
        assert shown == [slice_.slice for slice_ in now.page("ods", most, before).slices]
        assert shown


@pytest.mark.slow
def test_the_command_tells_the_past_and_does_not_reconcile_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEMARK_DATA", str(tmp_path))
    answer = CliRunner().invoke(main, ["catalog", "--as-of", "2026-03-24 10:00:00", "--json"])
    assert answer.exit_code == 0
    assert all(entry["slices"]["completed"] == 0 for entry in json.loads(answer.output)["entities"])
    refused = CliRunner().invoke(main, ["catalog", "--as-of", "2026-03-24", "--reconcile"])
    assert (refused.exit_code, "the past does not change" in refused.output) == (2, True)
