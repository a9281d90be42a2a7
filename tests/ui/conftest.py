"""A warehouse of three days, the UI on it, and a browser: each once for all tests of the folder."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from resources.settings import repository_root
from tests.components.availability import require
from tests.ui.browser import CHROMIUM, chromium
from tests.ui.dagster_pages import DagsterPages
from tests.ui.dagster_runs import DagsterRuns
from tests.ui.tidemark import RunningUi, World, run_tidemark, tidemark_up

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selenium.webdriver.remote.webdriver import WebDriver

LAST_DAY = "2026-03-25"
_DEMO_SECONDS = 600


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """The recording's first three days, replayed."""
    require(CHROMIUM)
    folder = tmp_path_factory.mktemp("ui")
    world = World(folder / "data", folder / "dagster_home")
    run_tidemark(world, "demo", "--until", LAST_DAY, "--json", timeout_seconds=_DEMO_SECONDS)
    return world


@pytest.fixture(scope="session")
def ui(world: World) -> Iterator[RunningUi]:
    with tidemark_up(world) as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[WebDriver]:
    require(CHROMIUM)
    with chromium() as driver:
        yield driver


@pytest.fixture
def pages(request: pytest.FixtureRequest, ui: RunningUi, browser: WebDriver) -> DagsterPages:
    """The pages, with their screenshots in a folder of the test's name (ignored by git)."""
    folder = repository_root() / "build" / "screenshots" / request.node.name.removeprefix("test_")
    shutil.rmtree(folder, ignore_errors=True)
    return DagsterPages(browser, ui.url, folder)


@pytest.fixture
def runs(ui: RunningUi) -> DagsterRuns:
    return DagsterRuns(ui.port)
