"""`tidemark doctor` on homes of Dagster that are damaged, or tell of other data."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.project import write_project
from tidemark.console.preflight.dagster_storage import dagster_storage
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    root = write_project(tmp_path / "project", {})
    home = root / "dagster_home"
    (home / "history" / "runs").mkdir(parents=True)
    (home / "dagster.yaml").write_text("")
    with closing(sqlite3.connect(home / "history" / "runs.db")) as runs:
        runs.execute("CREATE TABLE runs (body TEXT)")
        runs.executemany("INSERT INTO runs VALUES (?)", [("x" * 900,)] * 100)
        runs.commit()
    (root / "data").mkdir()
    for folder in (home, root / "data"):
        (folder / "warehouse_id").write_text("0123")
    return Settings.load({"TIDEMARK_ROOT": str(root)})


def overwrite(home: Path) -> None:
    file = home / "history" / "runs.db"
    file.write_bytes(file.read_bytes()[:8192] + b"\xff" * 60_000)


SPOILT: dict[str, tuple[Callable[[Path], object], str]] = {
    "pages overwritten": (overwrite, "runs.db: "),
    "no database": (lambda home: (home / "history" / "runs.db").write_bytes(b"text" * 1_000), "not a database"),
    "other data": (lambda home: (home / "warehouse_id").write_text("4567"), "belongs to another data folder"),
    "not YAML": (lambda home: (home / "dagster.yaml").write_text("telemetry: ["), "cannot be read"),
    "unknown key": (lambda home: (home / "dagster.yaml").write_text("telemtry: {}"), "cannot be read"),
}


@pytest.mark.parametrize("kind", SPOILT)
def test_a_wrong_storage_is_a_problem_with_a_fix(kind: str, settings: Settings) -> None:
    assert dagster_storage(settings, settings.dagster_home, {}) == []
    spoil, words = SPOILT[kind]
    spoil(settings.dagster_home)
    (finding,) = dagster_storage(settings, settings.dagster_home, {})
    assert finding.verdict == "problem"
    assert words in finding.found
    assert finding.to_do
