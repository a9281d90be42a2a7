"""Under a real `tidemark up`, tables are added to a project and become green without a launch or a retry by hand."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from tests.dagster.kinds import other_location
from tests.project import CHECKOUT
from tests.until import until
from tidemark.console.dagster_server.server import graphql

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

pytestmark = [pytest.mark.components, pytest.mark.xdist_group("added tables"), pytest.mark.timeout(1200)]

DAYS = ["2026-03-23", "2026-03-24"]
PROJECT = "start: 2026-03-23\nend: 2026-03-25\n"
VIRTUAL = "kind: Virtual\nperiod: day\n"
PYTHON = """
from pyspark.sql import DataFrame, functions as F


def compute(counted: DataFrame, *, biz_date: object) -> DataFrame:
    return counted.where(F.col("dt") == F.lit(biz_date)).select((F.col("n") * 2).alias("n"))
"""
QUERIES = {
    "counted": "SELECT sum(n) AS n FROM clicks WHERE dt = :biz_date\n",
    "best": "SELECT max(score) AS score FROM scores WHERE dt = :biz_date\n",
}
RELOAD = """mutation { reloadRepositoryLocation(repositoryLocationName: "tidemark") { __typename
  ... on WorkspaceLocationEntry { locationOrLoadError { __typename ... on PythonError { message } } } } }"""
RUNS = "{ runsOrError(limit: 100) { ... on Runs { results { id status } } } }"


@dataclass(frozen=True)
class Project:
    """A new project with one table of somebody else's, and a code location beside it."""

    root: Path
    env: Mapping[str, str]

    @property
    def lake(self) -> Path:
        return self.root / "data" / "warehouse"

    def tidemark(self, *arguments: str) -> str:
        command = [sys.executable, "-m", "tidemark.console", *arguments]
        done = subprocess.run(command, cwd=self.root, env=self.env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def declare(self, name: str, text: str) -> None:
        path = self.root / "warehouse_assets" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def arrive(self, day: str, n: int) -> None:
        """Somebody writes a day of clicks, and tells Dagster."""
        rows = pa.table({"dt": pa.array([day]).cast(pa.date32()), "n": [n]})
        write_deltalake(str(self.lake / "clicks"), rows, mode="append", partition_by=["dt"])
        with dg.DagsterInstance.from_config(str(self.root / "dagster_home")) as instance:
            instance.report_runless_asset_event(dg.AssetMaterialization("clicks", partition=day))

    def rows(self, table: str) -> list[int]:
        """The values of a table by day; none while it is not there."""
        path = str(self.lake / table)
        if not DeltaTable.is_deltatable(path):
            return []
        rows = DeltaTable(path).to_pyarrow_table().to_pylist()
        return [next(value for name, value in row.items() if name != "dt") for row in sorted(rows, key=_day)]


def _day(row: Mapping[str, Any]) -> str:
    return str(row["dt"])


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root, path = tmp_path / "shop", tmp_path / "path"
    path.mkdir()
    (path / "tidemark").symlink_to(CHECKOUT / "tidemark")
    own = {"TIDEMARK_ROOT": str(root), "TIDEMARK_DATA": str(root / "data"), "PYTHONPATH": str(path)}
    made = Project(root, {**os.environ, **own, "DAGSTER_HOME": str(root / "dagster_home")})
    subprocess.run([sys.executable, "-m", "tidemark.console", "init", str(root)], cwd=path, env=made.env, check=True)
    made.declare("project.yaml", PROJECT)
    for name in ("clicks", "scores"):
        made.declare(f"external/{name}.yaml", VIRTUAL)
    shutil.copyfile(Path(other_location.__file__), root / "other_location.py")
    beside = "  - python_file: {relative_path: other_location.py, location_name: other}\n"
    (root / "workspace.yaml").write_text((root / "workspace.yaml").read_text() + beside)
    return made


@contextmanager
def served(project: Project) -> Iterator[int]:
    """`tidemark up`, and the port of its UI."""
    command = [sys.executable, "-m", "tidemark.console", "up", "--port", "0", "--json"]
    with subprocess.Popen(command, cwd=project.root, env=project.env, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, f"it ended with {process.wait(60)}"
            ready = json.loads(line)
            assert ready["load_errors"] == []
            yield int(ready["url"].rpartition(":")[2])
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(120)


def reload(port: int) -> None:
    """What the button *Reload* does."""
    entry = graphql(port, RELOAD)["data"]["reloadRepositoryLocation"]
    assert entry["locationOrLoadError"]["__typename"] == "RepositoryLocation", entry


def statuses(port: int) -> dict[str, str]:
    return {run["id"]: run["status"] for run in graphql(port, RUNS)["data"]["runsOrError"]["results"]}


def wait_for(project: Project, port: int, table: str, expected: list[int]) -> None:
    """Until a table has these values; a run that fails meanwhile is the end."""

    def is_there() -> bool:
        runs = statuses(port)
        assert "FAILURE" not in runs.values(), runs
        return project.rows(table) == expected

    until(is_there, lambda: f"{expected}: {table} has {project.rows(table)}, runs are {statuses(port)}", pause=1)


def wait_until_green(port: int) -> None:
    """Until every run has ended well: a table has its rows before its run is over."""

    def all_succeeded() -> bool:
        runs = set(statuses(port).values())
        assert "FAILURE" not in runs, statuses(port)
        return runs == {"SUCCESS"}

    until(all_succeeded, lambda: statuses(port), pause=1)


@pytest.mark.long
def test_added_tables_go_green_by_themselves(project: Project, tmp_path: Path) -> None:
    """In SQL, in Python, and what an asset of another code location stands between."""
    with served(project) as port:
        for name, query in QUERIES.items():
            (tmp_path / f"{name}.sql").write_text(query)
            project.tidemark("new", name, "--layer", "dwd", "--query", str(tmp_path / f"{name}.sql"))
        reload(port)
        for day, n in zip(DAYS, (3, 4), strict=True):
            project.arrive(day, n)
        wait_for(project, port, "counted", [3, 4])
        wait_for(project, port, "best", [3, 7])

        project.declare("dwd/doubled.yaml", "period: day\n")
        project.declare("dwd/doubled.py", PYTHON)
        assert "no problems" in project.tidemark("check")
        reload(port)
        wait_for(project, port, "doubled", [6, 8])
        wait_until_green(port)
