"""The console's pages in headless Chromium, on a project of seed 000's size with a week of slices.

Writes the declarations of the figure `graph` (80,000 entities and 120,000 dependencies at scale 1) and a state store
with seven days of each, serves the console, and opens its pages:

    nodes, edges        of the graph, as the page says
    serve_seconds       from declarations on disk to a server that answers
    graph_first_s       from the address to the first picture of the graph: the server works out its layout
    graph_grouped_s     the same again, by layers, median of three
    graph_all_s         all entities as one picture, until the last dependency is drawn, median of three
    slider_ms_p90       from a move of the slider to the picture in the states of that day, over days not seen before
    matrix_rows, matrix_columns
    matrix_ms_p90       from *Earlier* to the table of these slices
    bundle_kb           the files of the console, gzipped
"""

from __future__ import annotations

import gzip
import re
import sqlite3
import statistics
import tempfile
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from selenium.webdriver.common.by import By

from benchmarks.graph import EDGES, ENTITIES, write
from tests.ui.browser import chromium
from tidemark.api import console_pages
from tidemark.api.options import ApiOptions
from tidemark.api.server import serve_in_thread
from tidemark.center.baseline import CenterForecast
from tidemark.center.center import DependencyCenter
from tidemark.center.pools import Pools
from tidemark.dependency_model.time.period import Period
from tidemark.state_store.store import StateStore
from tidemark.system.project_root import DECLARATIONS, PROJECT_FILE
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from selenium.webdriver.remote.webdriver import WebDriver

    from tidemark.dependency_model.graph import DependencyGraph

LAST: Final = date(2026, 3, 29)
DAYS: Final = 7
_ROW: Final = "INSERT OR IGNORE INTO slices VALUES (?, ?, '', ?, 'completed', 'passed', '', 0, 1, 1, NULL, NULL)"
_ONCE_DRAWN: Final = """
    const done = arguments[0];
    (function look() {
        if (!document.querySelector('[data-drawn]')) return requestAnimationFrame(look);
        done(performance.now());
    })();
"""
_SLIDE: Final = """
    const done = arguments[1], slider = document.querySelector('.slide input'), begun = performance.now();
    slider.value = arguments[0];
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    const day = new URL(location).searchParams.get('at');
    (function look() {
        if (document.querySelector('.whole')?.dataset.day !== day) return requestAnimationFrame(look);
        requestAnimationFrame(() => done(performance.now() - begun));
    })();
"""
_EARLIER: Final = """
    const done = arguments[0], first = () => document.querySelector('.matrix thead th:nth-child(2)')?.title;
    const before = first(), begun = performance.now();
    document.querySelector('.moves button').click();
    (function look() {
        if (!first() || first() === before) return requestAnimationFrame(look);
        requestAnimationFrame(() => done(performance.now() - begun));
    })();
"""


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scale", type=float, default=1.0, help="times 80,000 entities and 120,000 dependencies")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        root, scale = Path(folder), arguments.scale
        (root / PROJECT_FILE).write_text("time_zone: Europe/Paris\n")
        (root / DECLARATIONS).mkdir()
        write(root / DECLARATIONS, max(2, int(ENTITIES * scale)), int(EDGES * scale))
        return _measure(Settings.at(root / "data", root=root), root / DECLARATIONS)


def _measure(settings: Settings, declarations: Path) -> dict[str, Any]:
    begun = time.monotonic()
    warehouse, store = load_warehouse(settings, declarations), StateStore.of(settings)
    store.read.last()
    loaded = time.monotonic()
    _fill(settings.state_db, warehouse.graph)
    filled = time.monotonic()
    center = DependencyCenter(
        warehouse.graph, store, since=datetime(2026, 3, 28, tzinfo=UTC), clock=lambda: datetime.now(UTC)
    )
    forecast = CenterForecast(center, Pools({"default": 2}), lambda: datetime.now(UTC))
    with serve_in_thread(center, forecast, ApiOptions(port=0), warehouse=warehouse) as url, chromium() as browser:
        served = time.monotonic() - filled + loaded - begun
        figures = {"serve_seconds": round(served, 1), **_of_pages(browser, f"{url}/console")}
    store.close()
    return {**figures, "bundle_kb": round(_bundle_bytes() / 1024, 1)}


def _fill(state: Path, graph: DependencyGraph) -> None:
    """A week of completed slices, of which one in a hundred has failed."""
    rows = []
    for back in range(DAYS):
        for number, name in enumerate(graph):
            node = graph.node(name)
            if node.grid is None:
                continue
            end = node.entity.calendar.window(Period.DAY, (LAST - timedelta(days=back)).isoformat()).end
            key = node.grid.key(node.grid.at(int(end.timestamp()) - 1))
            rows.append((name, key, "failed" if (number + back) % 100 == 0 else "completed"))
    connection = sqlite3.connect(state)
    connection.executemany(_ROW, rows)
    connection.commit()
    connection.close()


def _of_pages(browser: WebDriver, console: str) -> dict[str, Any]:
    browser.set_script_timeout(300)
    day = LAST.isoformat()
    first = _drawn(browser, f"{console}/graph?at={day}")
    said = browser.find_element(By.CSS_SELECTOR, ".page-head .note").text
    nodes, edges = (int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", said))
    grouped = [_drawn(browser, f"{console}/graph?at={day}") for _ in range(3)]
    whole = [_drawn(browser, f"{console}/graph?at={day}&whole=1") for _ in range(3)]
    slides = list(_slides(browser))
    browser.get(f"{console}/slices?until={day}")
    browser.execute_async_script(_ONCE_DRAWN.replace("[data-drawn]", ".matrix"))
    pages = [browser.execute_async_script(_EARLIER) for _ in range(6)]
    return {
        "nodes": nodes,
        "edges": edges,
        "graph_first_s": round(first / 1000, 2),
        "graph_grouped_s": round(statistics.median(grouped) / 1000, 2),
        "graph_all_s": round(statistics.median(whole) / 1000, 2),
        "slider_ms_p90": _p90(slides),
        "matrix_rows": len(browser.find_elements(By.CSS_SELECTOR, ".matrix tbody tr")),
        "matrix_columns": len(browser.find_elements(By.CSS_SELECTOR, ".matrix thead th")) - 1,
        "matrix_ms_p90": _p90(pages),
    }


def _drawn(browser: WebDriver, address: str) -> float:
    """Milliseconds from the address to the picture."""
    browser.get(address)
    return float(browser.execute_async_script(_ONCE_DRAWN))


def _slides(browser: WebDriver) -> Iterator[float]:
    slider = browser.find_element(By.CSS_SELECTOR, ".slide input")
    now = int(str(slider.get_property("value")))
    for back in range(1, 12):
        yield float(browser.execute_async_script(_SLIDE, str(now - back)))


def _p90(milliseconds: list[float]) -> float:
    return round(sorted(milliseconds)[int(len(milliseconds) * 0.9)], 1)


def _bundle_bytes() -> int:
    folder = Path(console_pages.__file__).with_name("console_bundle")
    return sum(len(gzip.compress(path.read_bytes(), mtime=0)) for path in folder.rglob("*") if path.is_file())
