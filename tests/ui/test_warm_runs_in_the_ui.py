"""A run on a warm worker is launched, watched and terminated on Dagster's pages, as any other run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import dagster as dg
import pytest

from tests.project import CHECKOUT
from tests.ui.dagster_pages import DagsterPages
from tests.ui.dagster_runs import RunsByGraphql
from tests.until import until
from tests.warm_runs.warm_home import LOCATION, WarmHome, write_home
from tidemark.console.dagster_server.server import DagsterServer
from tidemark.system.free_port import free_port
from tidemark.warm_runs.host_supervisor import WorkerHostSupervisor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from selenium.webdriver.remote.webdriver import WebDriver

pytestmark = [pytest.mark.components, pytest.mark.long, pytest.mark.timeout(600)]


class WarmUi:
    """The UI on the code location of the workers' tests, with one worker."""

    def __init__(
        self, warm: WarmHome, server: DagsterServer, pages: DagsterPages, keep: Callable[[], WorkerHostSupervisor]
    ) -> None:
        self.warm, self.pages, self.runs = warm, pages, RunsByGraphql(server.port)
        self._keep, self._keeper = keep, keep()
        warm.wait_until_ready()

    def stop_workers(self) -> None:
        self._keeper.stop()

    def start_workers(self) -> None:
        self._keeper = self._keep()
        self.warm.wait_until_ready()

    def launch(self, asset: str) -> str:
        """A run of an asset from its page, once it is there."""
        known = set(self.runs.runs())
        self.pages.materialize_whole(asset)
        until(lambda: set(self.runs.runs()) - known, "a run")
        (run,) = set(self.runs.runs()) - known
        return run


@pytest.fixture(scope="module")
def ui(tmp_path_factory: pytest.TempPathFactory, browser: WebDriver) -> Iterator[WarmUi]:
    folder = tmp_path_factory.mktemp("warm-ui")
    home = folder / "home"
    write_home(home, workers=1)
    location = {"module_name": LOCATION, "working_directory": str(CHECKOUT)}
    (folder / "workspace.yaml").write_text(f"load_from: [{{python_module: {location}}}]")
    env = {**os.environ, "PYTHONPATH": str(CHECKOUT), "TIDEMARK_ROOT": str(CHECKOUT)}
    server = DagsterServer.start(folder, home, free_port(), folder / "dagster.log", env)
    try:
        assert server.wait_until_ready()
        # Only now: two processes that make a new storage at once spoil it.
        with dg.DagsterInstance.from_config(str(home)) as instance:
            shots = CHECKOUT / "build" / "screenshots" / "warm-runs"
            pages = DagsterPages(browser, server.url, shots)
            made = WarmUi(
                WarmHome(home, instance), server, pages, lambda: WorkerHostSupervisor(home, folder / "workers.log", env)
            )
            yield made
            made.stop_workers()
    finally:
        server.stop()


def test_a_run_is_launched_and_what_it_did_is_on_its_page(ui: WarmUi) -> None:
    run = ui.launch("quick")
    assert ui.warm.ended(run) == "SUCCESS"
    ui.pages.open_run(run)
    ui.pages.until("the run's end", lambda: "Success" in ui.pages.text())
    ui.pages.shot("success")
    assert "Running on the warm worker" in ui.warm.messages(run)


def test_a_run_is_watched_and_terminated(ui: WarmUi) -> None:
    ui.warm.wait_until_ready()
    (worker,) = ui.warm.warm_workers()["pids"]
    run = ui.launch("lasting")
    until(lambda: ui.warm.status(run) == "STARTED", "start")
    ui.pages.open_run(run)
    ui.pages.until("a run that goes on", lambda: "Started" in ui.pages.text() or "Running" in ui.pages.text())
    ui.pages.shot("going-on")
    ui.pages.terminate()
    assert ui.warm.ended(run) == "CANCELED"
    ui.pages.until("its end on the page", lambda: "Canceled" in ui.pages.text())
    ui.pages.shot("canceled")
    until(lambda: ui.warm.warm_workers()["pids"] not in ([worker], []), "another worker")
    assert ui.warm.ended(ui.launch("quick")) == "SUCCESS"


def test_without_workers_a_run_is_a_new_process(ui: WarmUi) -> None:
    ui.stop_workers()
    try:
        run = ui.launch("quick")
        assert ui.warm.ended(run) == "SUCCESS"
        assert "warm worker" not in ui.warm.messages(run)
    finally:
        ui.start_workers()
