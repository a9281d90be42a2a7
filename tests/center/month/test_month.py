"""Other programs play a month by a seed against the center in both hosts: no slice is wrong without saying so."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import timedelta
from typing import TYPE_CHECKING

import dagster as dg
import pytest

from tests.center.month.hosts import HOSTS, DagsterRuns, Host
from tests.center.month.places import DeltaPlace, FilesPlace, SqlPlace, TableWithMark
from tests.center.month.play import COUNTED, STRICT, Month, declarations
from tests.components.availability import POSTGRESQL, require
from tests.components.postgres import postgres
from tests.dagster.sensors.test_external_programs import web_server
from tests.examples import each
from tidemark.center.detectors import outside
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from pathlib import Path

    from tests.center.month.places import Place
    from tidemark.warehouse.warehouse import Warehouse

_STRICT = "settle_for: 0s, fresh_for: 0s, late_every: 1s"


def places_of(folder: Path, lake: Path, web: str, database: str, shown: str) -> dict[str, Place]:
    counted = DeltaPlace(lake / COUNTED, has_probe=False)
    counted.probe = (
        f"probe: {{counts: {{of: {COUNTED}, slot_minutes: 60}}, settle_for: 0s, fresh_for: 0s, late_every: 1s}}"
    )
    return {
        "lake": DeltaPlace(folder / "lake"),
        STRICT: DeltaPlace(folder / "strict", _STRICT, told=True),
        "told": DeltaPlace(lake / "told", told=True, has_probe=False),
        "marked": TableWithMark(lake / "marked", folder / "marks", web),
        "drop": FilesPlace(folder / "drop", "parquet"),
        "lines": FilesPlace(folder / "lines", "csv"),
        "hourly": FilesPlace(folder / "hourly", "csv"),
        "shop": SqlPlace(database, shown),
        COUNTED: counted,
    }


def declare(folder: Path, places: dict[str, Place], days: int) -> Warehouse:
    root = folder / "declared"
    (root / "ads").mkdir(parents=True)
    for name, text in declarations(places, days).items():
        (root / ("" if name == "project" else "ads") / f"{name}.yaml").write_text(text)
    settings = Settings.at(folder / "data").model_copy(update={"pools": "default=100"})
    return load_warehouse(settings, root)


def play(folder: Path, host: str, seed: int, days: int, events: int, burst: int, database: str | None = None) -> Month:
    """The month after it was played; `database` is a server's URL, or a file of SQLite is made."""
    shown, data, web = database or f"sqlite:///{folder}/shop.db", folder / "data", folder / "outside" / "marks"
    web.mkdir(parents=True)
    (folder / "home").mkdir()
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(outside, "_AGAIN", timedelta(seconds=1))
        patch.setenv("SHOP", shown)
        instance = stack.enter_context(dg.instance_for_test(temp_dir=str(folder / "home")))
        url = stack.enter_context(web_server(web))
        places = places_of(folder / "outside", data / "warehouse", url, shown, "${SHOP}")
        warehouse, runs, served = declare(folder, places, days), DagsterRuns(instance), Host()
        month = Month(served, warehouse.graph, places, runs, seed, days, events, burst)
        HOSTS[host](warehouse, runs, month.play(), served)
    return month


@pytest.mark.parametrize("host", each(2, HOSTS))
def test_some_days_of_others(tmp_path: Path, host: str) -> None:
    month = play(tmp_path, host, 5, 2, 40, 20)
    assert (month.played, month.settled >= 3) == (40, True)


@pytest.mark.long
@pytest.mark.components
@pytest.mark.timeout(7_200)
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("host", HOSTS)
def test_a_month_of_others(tmp_path: Path, host: str, seed: int) -> None:
    require(POSTGRESQL)
    with postgres() as server:
        month = play(tmp_path, host, seed, 28, 2_000, 40, server.url)
    assert month.played == 2_000
    assert month.compared > 20_000
