"""A run sees a definition as it is now, and what `tidemark check` kept since the last run.

That each of the two makes workers load everything again: test_source_version.py and test_warm_workers.py.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.project import CHECKOUT
from tests.until import until
from tests.warm_runs.warm_home import WarmHome, warm_home, write_home
from tidemark.warm_runs.host_supervisor import WorkerHostSupervisor

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.components, pytest.mark.xdist_group("warm_runs"), pytest.mark.timeout(600)]

MODULE = "reloaded_location.definitions"
DEFINITIONS = """
import os
from pathlib import Path

import dagster as dg

QUERY = (Path(__file__).parent / "query.sql").read_text()
PLANS = "".join(path.read_text() for path in (Path(os.environ["TIDEMARK_DATA"]) / "cache").glob("plans-*.json"))


@dg.asset
def loaded(context: dg.AssetExecutionContext) -> None:
    context.log.info(f"query {QUERY}, plans {PLANS}")


defs = dg.Definitions(assets=[loaded], executor=dg.in_process_executor)
"""


def said(warm: WarmHome) -> str:
    run = warm.launch("loaded")
    assert warm.ended(run) == "SUCCESS"
    (line,) = [line for line in warm.messages(run).splitlines() if line.startswith("query")]
    return line


@pytest.mark.long
def test_definitions_and_plans_are_loaded_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package, data, home = tmp_path / "reloaded_location", tmp_path / "data", tmp_path / "home"
    for folder in (package, data / "cache"):
        folder.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "definitions.py").write_text(DEFINITIONS)
    (package / "query.sql").write_text("old")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("TIDEMARK_DATA", str(data))
    write_home(home, MODULE, workers=1)
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{CHECKOUT}"}
    with warm_home(home) as made, WorkerHostSupervisor(home, home / "workers.log", environment):
        warm = WarmHome(home, made.instance, MODULE)
        warm.wait_until_ready()
        (worker,) = warm.warm_workers()["pids"]
        assert said(warm) == "query old, plans "
        (package / "query.sql").write_text("new")
        (data / "cache" / "plans-0.json").write_text("{}")
        until(lambda: worker not in warm.warm_workers()["pids"], "the end of the worker that knows the old ones")
        assert said(warm) == "query new, plans {}"
