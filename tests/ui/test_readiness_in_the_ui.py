"""What a person materializes or backfills in the UI releases what waited for it, and nothing that waits for more."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg
import pytest

from tests.project import CHECKOUT
from tests.ui.dagster_pages import DagsterPages
from tests.ui.dagster_runs import RunsByGraphql
from tests.ui.quick_location import HOLD, write_declarations
from tidemark.console.dagster_server.dagster_home import prepare_home
from tidemark.console.dagster_server.server import DagsterServer
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import RunState
from tidemark.state_store.store import StateStore
from tidemark.system.free_port import free_port
from tidemark.system.settings import Settings
from tidemark.warm_runs.host_supervisor import WorkerHostSupervisor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from selenium.webdriver.remote.webdriver import WebDriver

pytestmark = [pytest.mark.components, pytest.mark.long, pytest.mark.timeout(900)]

DAYS = ["2026-03-24", "2026-03-25", "2026-03-26"]
# A guard against hanging, on a busy machine too.
_WAIT_SECONDS = 240.0


class RunningWorld:
    """Dagster with its daemon on the quick location, and the state store beside it."""

    def __init__(self, folder: Path, browser: WebDriver) -> None:
        self.settings = Settings.at(folder / "data")
        self.home = folder / "home"
        write_declarations(self.settings.data)
        prepare_home(self.settings, self.home)
        location = {"module_name": "tests.ui.quick_location", "working_directory": str(CHECKOUT)}
        (folder / "workspace.yaml").write_text(f"load_from: [{{python_module: {location}}}]")
        self.env = {
            **os.environ,
            "TIDEMARK_DATA": str(self.settings.data),
            "PYTHONPATH": str(CHECKOUT),
            "TIDEMARK_ROOT": str(CHECKOUT),
        }
        self.server = DagsterServer.start(folder, self.home, free_port(), folder / "dagster.log", self.env)
        self.pages = DagsterPages(browser, self.server.url, CHECKOUT / "build" / "screenshots" / "readiness")
        self.runs = RunsByGraphql(self.server.port)

    def arrive(self, day: str) -> None:
        """The feed of a day is there: somebody tells Dagster so."""
        with dg.DagsterInstance.from_config(str(self.home)) as instance:
            instance.report_runless_asset_event(dg.AssetMaterialization("feed", partition=day))

    def there(self, name: str) -> list[str]:
        """The days that were materialized, whoever launched it."""
        return sorted(self.runs.materialized_at(name, DAYS))

    def run_state(self, name: str, day: str) -> tuple[RunState, int]:
        store = StateStore.of(self.settings)
        stored = store.read.current(Slice(name, day))
        store.close()
        return (stored.status.run_state, stored.status.generation) if stored else (RunState.WAITING, 1)

    def runs_of(self, name: str, day: str) -> dict[str, str]:
        """The status of each run of a day, by its id."""
        with dg.DagsterInstance.from_config(str(self.home)) as instance:
            runs = instance.get_runs(dg.RunsFilter(tags={"dagster/partition": day}))
            return {run.run_id: run.status.value for run in runs if dg.AssetKey(name) in (run.asset_selection or ())}

    def begins(self, name: str, day: str, known: Iterable[str] = ()) -> str:
        """The run of a day that is not among the known ones, once it has begun."""

        def begun() -> list[str]:
            return [run for run, status in self.runs_of(name, day).items() if run not in known and status == "STARTED"]

        self.until(f"a run of {name} of {day}", begun)
        return begun()[0]

    def until(self, what: str, condition: Callable[[], Any]) -> None:
        self.pages.until(what, condition, _WAIT_SECONDS)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, browser: WebDriver) -> Iterator[RunningWorld]:
    running = RunningWorld(tmp_path_factory.mktemp("readiness"), browser)
    try:
        assert running.server.wait_until_ready()
        assert running.server.load_errors() == []
        with WorkerHostSupervisor(running.home, running.home.parent / "workers.log", running.env):
            yield running
    finally:
        running.server.stop()


def test_what_is_materialized_by_hand_and_backfilled_then_releases_its_slices_once(world: RunningWorld) -> None:
    materialize_one_day(world)
    backfill_every_day(world)
    assert world.there("compared") == []  # the feed of two days is missing
    for day in DAYS[1:]:
        world.arrive(day)
    world.until("what two days of the feed release", lambda: world.there("compared") == DAYS[-1:])
    world.until("the end of that", lambda: world.run_state("compared", DAYS[-1]) == (RunState.COMPLETED, 1))
    assert [world.run_state("compared", day)[0] for day in DAYS[:2]] == [RunState.WAITING, RunState.WAITING]


def materialize_one_day(world: RunningWorld) -> None:
    """It releases what waited for it alone."""
    world.pages.materialize("totals", DAYS[0])
    world.until("the day's publication", lambda: world.there("published") == DAYS[:1])
    assert world.there("totals") == DAYS[:1]
    assert world.there("compared") == []
    assert world.run_state("compared", DAYS[0]) == (RunState.WAITING, 1)


def backfill_every_day(world: RunningWorld) -> None:
    """It releases each of its days once: the day that was there gets its second generation."""
    known = set(world.runs.backfills())
    world.pages.materialize("totals", f"[{DAYS[0]}...{DAYS[-1]}]")
    world.until("the backfilled days' publication", lambda: world.there("published") == DAYS)
    world.until("the second publication", lambda: world.run_state("published", DAYS[0]) == (RunState.COMPLETED, 2))
    assert [world.run_state("published", day)[1] for day in DAYS] == [2, 1, 1]
    assert len(set(world.runs.backfills()) - known) == 1


def test_a_run_that_is_executed_again_is_a_generation_that_its_readers_get(world: RunningWorld) -> None:
    (day,) = DAYS[:1]
    before = world.run_state("totals", day)[1], world.run_state("published", day)[1]
    run = next(run for run, status in world.runs_of("totals", day).items() if status == "SUCCESS")
    world.pages.open_run(run)
    world.pages.repeat()
    world.until("the next generation", lambda: world.run_state("totals", day) == (RunState.COMPLETED, before[0] + 1))
    world.until("that of its reader", lambda: world.run_state("published", day) == (RunState.COMPLETED, before[1] + 1))


def test_a_run_that_is_terminated_stays_so_and_one_that_is_deleted_is_asked_for_again(world: RunningWorld) -> None:
    terminated, deleted = "2026-03-23", "2026-03-27"
    hold = world.settings.data / HOLD
    hold.touch()
    try:
        world.arrive(terminated)
        run = world.begins("lasting", terminated)
        world.pages.open_run(run)
        world.pages.terminate()
        world.until("the end of the slice", lambda: world.run_state("lasting", terminated)[0] is RunState.FAILED)
        world.arrive(deleted)
        run = world.begins("lasting", deleted)
        world.pages.open_run(run)
        world.pages.delete()
        again = world.begins("lasting", deleted, [run])
    finally:
        hold.unlink()
    world.until("the second run's success", lambda: world.runs_of("lasting", deleted).get(again) == "SUCCESS")
    # Dagster lets a deleted run go on: its rows may arrive too, and are a generation of their own.
    world.until("its slice", lambda: world.run_state("lasting", deleted)[0] is RunState.COMPLETED)
    assert list(world.runs_of("lasting", terminated).values()) == ["CANCELED"]
