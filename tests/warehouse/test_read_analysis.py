"""Many queries are analysed by several processes: with the reads and the problems that one process finds."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tidemark.system.settings import Settings
from tidemark.warehouse import read_analysis
from tidemark.warehouse.declarations import Declarations, read_declarations
from tidemark.warehouse.inference_cache import InferenceCache

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.lineage.inferred_read import Read

QUERIES = {
    "a": "SELECT u.user_id FROM users AS u WHERE u.dt = date_sub(:biz_date, 2)",
    "b": "SELECT v.user_id FROM v_paid AS v WHERE v.dt BETWEEN date_sub(:biz_date, 6) AND :biz_date",
    "c": "SELECT 1 AS n",
    "wrong": "SELECT u.user_id FROM users AS u WHERE u.dt = :biz_dat",
    "open": "SELECT u.user_id FROM users AS u WHERE u.dt > :biz_date",
    "d": "SELECT a.user_id FROM a JOIN b ON a.user_id = b.user_id AND a.dt = b.dt WHERE a.dt = :biz_date",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "declared").mkdir()
    declared = tmp_path / "declared"
    (declared / "project.yaml").write_text("time_zone: Europe/Paris\nstart: 2026-03-23\n")
    (declared / "users.yaml").write_text("{period: day, kind: Snapshot}\n")
    (declared / "v_paid.yaml").write_text("kind: View\n")
    (declared / "v_paid.sql").write_text("SELECT user_id, dt FROM users WHERE amount > 0\n")
    for name, text in QUERIES.items():
        (declared / f"{name}.yaml").write_text("period: day\n")
        (declared / f"{name}.sql").write_text(text)
    return declared


@pytest.fixture
def analysed_here(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two cores, and every second query is many; what this process analyses all the same."""
    monkeypatch.setattr(read_analysis, "FEW", 1)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    here: list[str] = []
    analyse = InferenceCache._analyse

    def noted(self: InferenceCache, entity: Entity, *rest: Any) -> dict[str, Read]:
        here.append(entity.name)
        return analyse(self, entity, *rest)

    monkeypatch.setattr(InferenceCache, "_analyse", noted)
    return here


def _read(root: Path, folder: str) -> Declarations:
    (root.parent / folder).mkdir()
    return read_declarations(root, Settings.at(root.parent / folder))


def _same(first: Declarations, other: Declarations) -> bool:
    """Errors are compared by their text."""
    told = [list(map(str, declarations.problems)) for declarations in (first, other)]
    return told[0] == told[1] and replace(first, problems=()) == replace(other, problems=())


@pytest.mark.slow
def test_several_processes_find_the_same_as_one(
    root: Path, analysed_here: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    apart = _read(root, "apart")
    assert sorted(analysed_here) == ["v_paid", "wrong"], "what is wrong is told here, and views are few"
    monkeypatch.setattr(read_analysis, "FEW", 1000)
    assert _same(_read(root, "here"), apart)
    assert str(apart.entities["b"].depends_on[0].offset) == "Range -6..0"
    assert any("biz_dat" in str(problem) for problem in apart.problems)


@pytest.mark.slow
def test_the_work_of_a_dead_process_is_done_here(
    root: Path, analysed_here: list[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    expected = _read(root, "apart")
    analysed_here.clear()
    broken = root.parent / "python"
    broken.write_text("#!/bin/sh\ncat > /dev/null\necho no memory >&2\nexit 3\n")
    broken.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(broken))
    assert _same(_read(root, "here"), expected)
    assert {*analysed_here} == {*QUERIES, "v_paid"}
    assert "ended with 3: no memory" in caplog.text
