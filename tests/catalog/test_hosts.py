"""The reconciliation where it runs: in every host's upkeep, on both databases, and asked over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.catalog.lake import DAYS, Lake
from tests.components.fixtures import ON_POSTGRESQL
from tests.state_store.conftest import empty_database
from tidemark.api.center_queries import Queries
from tidemark.center.baseline import CenterForecast
from tidemark.center.center_tick import CenterTick
from tidemark.center.pools import Pools
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import RunState
from tidemark.system.utc_clock import utc_now

if TYPE_CHECKING:
    from pathlib import Path

FIRST, SECOND, THIRD = DAYS


def test_a_host_reconciles_as_part_of_its_upkeep(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    for day in DAYS:
        lake.write(day, [1])
    lake.delete(SECOND)
    host = CenterTick(lake.warehouse, "test")
    host.upkeep()
    assert host.center.status(Slice("sales", SECOND)).run_state is RunState.ABSENT
    assert host.center.status(Slice("sales", THIRD)).run_state is RunState.COMPLETED


@pytest.mark.parametrize("server", ["sqlite", ON_POSTGRESQL])
def test_both_databases_hold_the_notes_and_answer(tmp_path: Path, server: str, request: pytest.FixtureRequest) -> None:
    address = request.getfixturevalue("postgres_server").url if server == "postgresql" else ""
    lake = Lake(tmp_path, state=empty_database(address, tmp_path))
    for number, day in enumerate(DAYS):
        lake.write(day, list(range(number + 1)))
    lake.tell(FIRST, 0, 1, entity="reports")
    assert lake.poll().commits == 3
    lake.delete(FIRST)
    lake.commit(SECOND, [7])
    report = lake.poll()
    assert (report.absent, report.foreign, report.commits) == (1, 1, 2)
    page = lake.catalog.page("sales")
    assert (page.entry.slices.completed, page.entry.slices.absent, page.entry.rows) == (2, 1, 4)
    assert page.entry.last_reader is not None
    assert page.entry.last_reader.slice == f"reports@{FIRST}"
    assert [slice_.slice.key for slice_ in page.slices] == [THIRD, SECOND, FIRST]
    lake.store.close()


def test_the_http_answer_equals_the_command(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    lake.write(FIRST, [1, 2])
    lake.poll()
    queries = Queries(lake.center, CenterForecast(lake.center, Pools({}), utc_now))
    entry = {entry.entity: entry for entry in queries.catalog().entities}["sales"]
    assert (entry.slices.completed, entry.rows, entry.table_version) == (1, 2, 0)
    page = queries.catalog_page("sales", 10, "")
    assert [(slice_.slice, slice_.rows) for slice_ in page.slices] == [(f"sales@{FIRST}", 2)]
    assert page.schemas[0].columns == {"dt": "date", "amount": "long"}
