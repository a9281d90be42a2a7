"""The UI on the replayed warehouse, and a browser: each once for all tests of the folder."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.components.availability import require
from tests.project import CHECKOUT
from tests.ui.browser import CHROMIUM, chromium
from tests.ui.dagster_pages import DagsterPages
from tests.ui.dagster_runs import RunsByGraphql
from tests.ui.tidemark import RunningUi, tidemark_up

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selenium.webdriver.remote.webdriver import WebDriver

    from tests.world import DemoWorld, World


@pytest.fixture(scope="session")
def world(demo_world: DemoWorld) -> World:
    """The recording's first day, replayed."""
    require(CHROMIUM)
    return demo_world.world


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
    folder = CHECKOUT / "build" / "screenshots" / request.node.name.removeprefix("test_")
    shutil.rmtree(folder, ignore_errors=True)
    return DagsterPages(browser, ui.url, folder)


@pytest.fixture
def runs(ui: RunningUi) -> RunsByGraphql:
    return RunsByGraphql(ui.port)
