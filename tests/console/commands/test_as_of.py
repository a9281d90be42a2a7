"""`explain --as-of`: how a slice stood at a past instant, and what it had been computed from, at which versions."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from tests.center.test_center import CHAIN, NOW, CenterWorld
from tests.console.commands.slices_there import THEN, report
from tidemark.api.past_slices import past_slice_model
from tidemark.catalog.slice_as_of import slice_as_of
from tidemark.console.main import main
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.transition import Facts
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

ODS, DWD = "ods@2024-06-02", Slice("dwd", "2024-06-02")


def test_each_instant_tells_the_status_and_the_versions_that_had_been_read_by_then(tmp_path: Path) -> None:
    world = CenterWorld(tmp_path, **CHAIN)
    world.tell(ODS, "observed", data=Facts(snapshot_id="7"))
    world.run(str(DWD), "run 1")
    world.now = NOW + timedelta(hours=1)
    world.tell(ODS, "backfill_requested")
    world.tell(ODS, "observed", "again", data=Facts(snapshot_id="9"))
    world.now = NOW + timedelta(hours=2)
    if str(DWD) not in world.ready():
        world.tell(str(DWD), "backfill_requested")
    world.run(str(DWD), "run 2")
    before, first, second = (
        slice_as_of(world.store, DWD, NOW + timedelta(minutes=minutes)) for minutes in (-1, 30, 180)
    )
    assert (before.status, before.written, before.read) == (None, None, None)
    told = [as_data(state) for state in (first, second)]
    assert told == [("completed", 1, "run 1", [(ODS, 1, "7")]), ("completed", 2, "run 2", [(ODS, 2, "9")])]


def as_data(state: Any) -> tuple[Any, ...]:
    told = past_slice_model(state).model_dump()
    read = [(used["slice"], used["generation"], used["version"]) for used in told["read"]]
    return told["run_state"], told["generation"], told["run_id"], read


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("TIDEMARK_DATA", str(tmp_path))
    return Settings.at(tmp_path)


def explain(*arguments: str) -> str:
    result = CliRunner().invoke(main, ["explain", "ods_orders", "2026-03-29", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_command_tells_it(settings: Settings) -> None:
    assert "it had no events until" in explain("--as-of", "2026-03-30")
    report(settings)
    after = (THEN + timedelta(minutes=1)).strftime("%Y-%m-%dT%H:%M:%S")
    assert json.loads(explain("--as-of", after, "--json"))["run_state"] == "completed"
    assert json.loads(explain("--as-of", "2026-03-29", "--json"))["run_state"] is None
    assert "was completed at 2026-03-30 01:01:00+00:00" in explain("--as-of", after)
