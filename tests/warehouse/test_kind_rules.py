"""What no run could do is refused by the check, each with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tidemark.system.settings import Settings
from tidemark.warehouse.declarations import read_declarations
from tidemark.warehouse.kind_rules import unrunnable

if TYPE_CHECKING:
    from pathlib import Path

CAPTURED = "period: day\nkind: Snapshot\nsource: {table: s.orders, instances: [a]}\nkey: [id]\n"


def problems(folder: Path, yaml: str, sql: str = "") -> list[str]:
    (folder / "declared").mkdir()
    (folder / "declared" / "project.yaml").write_text("start: 2026-03-23\nend: 2026-03-27\n")
    (folder / "declared" / "t.yaml").write_text(yaml)
    if sql:
        (folder / "declared" / "t.sql").write_text(sql)
    read = read_declarations(folder / "declared", Settings.at(folder / "data"))
    assert not read.problems
    return [f"{problem.where} {problem.message}" for problem in unrunnable(read, folder / "declared")]


@pytest.mark.parametrize(
    ("yaml", "sql", "expected"),
    [
        ("period: day\n", "", ["t.yaml:1 nothing computes it"]),
        ("period: day\ncolumns: [a]\n", "SELECT 1 AS a\n", ["t.yaml:2 its query says which columns it has"]),
        ("kind: Static\n", "", ["t.yaml:1 nothing computes it"]),
        (
            "period: day\nkind: Virtual\n",
            "SELECT 1 AS a\n",
            ["t.yaml:2 data of another system: nothing here computes it"],
        ),
        (
            "period: day\nkind: Virtual\nown_asset: true\n",
            "",
            ["t.yaml:2 data of another system: nothing here computes it"],
        ),
        (
            "period: day\nkind: Project\n",
            "SELECT 1 AS a\n",
            ["t.yaml:2 a group of other entities: nothing here computes it"],
        ),
        (
            "period: day\nown_asset: true\n",
            "SELECT 1 AS a\n",
            ["t.yaml:2 a query or function computes it, or an asset of your own: not both"],
        ),
        (
            "period: day\nkind: Virtual\nprobe: {own: {entry_point: nobody_has_it}}\n",
            "",
            ["t.yaml:3 unknown entry point of tidemark.probes"],
        ),
        (CAPTURED.replace("Snapshot", "TimeSeries"), "", ["t.yaml:2 only a Snapshot is captured"]),
        (CAPTURED + "sub_partitions: {region: [cn]}\n", "", ["t.yaml:5 a captured table has no parts"]),
        (
            "kind: Static\nsub_partitions: {region: [cn]}\n",
            "SELECT 1 AS a\n",
            ["t.yaml:2 a table without periods has no parts"],
        ),
        ("kind: Static\nexport: true\n", "SELECT 1 AS a\n", ["t.yaml:2 a Static entity has no slices to publish"]),
        ("period: month\n", "SELECT 1 AS a\n", ["t.yaml:1 it has no slices"]),
        (
            "period: day\nstates: [{entity_state: estimated}]\n",
            "",
            ["t.yaml:1 nothing computes it", "t.yaml:2 its slices are never completed"],
        ),
        (
            "period: day\nsub_partitions: {hour: [a]}\n",
            "SELECT 1 AS a\n",
            ["t.yaml:2 'hour' is a column of the business time"],
        ),
        (
            "period: day\nsub_partitions: {r: ['a,b']}\n",
            "SELECT 1 AS a\n",
            ["t.yaml:2 the name of a part cannot contain '|' or ','"],
        ),
    ],
)
def test_entities_that_cannot_run_are_refused(tmp_path: Path, yaml: str, sql: str, expected: list[str]) -> None:
    assert problems(tmp_path, yaml, sql) == expected


@pytest.mark.parametrize(
    ("yaml", "sql"),
    [
        ("period: day\n", "SELECT 1 AS a\n"),
        ("period: day\nown_asset: true\n", ""),
        ("kind: Static\n", "SELECT 1 AS a\n"),
        ("kind: Virtual\nperiod: day\nsub_partitions: {region: [cn]}\n", ""),
        ("kind: Project\nperiod: day\n", ""),
        (CAPTURED, ""),
    ],
)
def test_entities_that_can_run_are_accepted(tmp_path: Path, yaml: str, sql: str) -> None:
    assert problems(tmp_path, yaml, sql) == []


@pytest.mark.parametrize(
    ("more", "is_refused"),
    [
        ("hour\ntime_zone: Australia/Lord_Howe\nstart: 2026-03-23T00\nend: null\n", True),
        ("hour\ntime_zone: Australia/Lord_Howe\n", False),
        ("10min\ntime_zone: Australia/Lord_Howe\nend: null\n", False),
        ("hour\ntime_zone: Australia/Adelaide\nend: null\n", False),
        ("hour\ntime_zone: UTC+5:30\nend: null\n", False),
    ],
)
def test_hours_are_refused_where_the_clock_changes_by_half_an_hour(tmp_path: Path, more: str, is_refused: bool) -> None:
    """Dagster counts whole hours on from there: none of its partitions is a slice."""
    told = problems(tmp_path, f"kind: Virtual\nperiod: {more}")
    assert told == ["t.yaml:2 Dagster cannot make hours if the clock changes by less than an hour"] * is_refused
