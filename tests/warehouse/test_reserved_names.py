"""No entity takes the name of a table that the product itself writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tidemark.system.settings import Settings
from tidemark.warehouse import declarations_against_settings
from tidemark.warehouse.declarations import read_declarations
from tidemark.warehouse.declarations_against_settings import project_problems

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("name", "is_refused"), [("_slices", True), ("_iceberg", True), ("quality_results", True), ("slices", False)]
)
def test_a_reserved_name_is_refused(tmp_path: Path, name: str, is_refused: bool) -> None:
    declared = tmp_path / "declared"
    declared.mkdir()
    (declared / "project.yaml").write_text("start: 2026-03-23\n")
    (declared / f"{name}.yaml").write_text("period: day\nkind: Virtual\n")
    settings = Settings.at(tmp_path / "data")
    read = read_declarations(declared, settings)
    assert not read.problems
    told = [(problem.where, problem.message) for problem in project_problems(settings, read.entities.values())]
    message = f"'{name}' is the name of a table that Tidemark itself writes into the lake"
    assert told == ([(f"{name}.yaml", message)] if is_refused else [])


def test_iceberg_of_the_defaults_needs_its_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declared = tmp_path / "declared"
    declared.mkdir()
    (declared / "project.yaml").write_text("start: 2026-03-23\nread_by: [iceberg]\n")
    (declared / "sales.yaml").write_text("period: day\nkind: Virtual\n")
    settings = Settings.at(tmp_path / "data")
    read = read_declarations(declared, settings)
    assert not read.problems
    assert list(project_problems(settings, read.entities.values())) == []
    monkeypatch.setattr(declarations_against_settings, "find_spec", lambda _: None)
    (problem,) = project_problems(settings, read.entities.values())
    assert "pip install 'tidemark[iceberg]'" in str(problem)
