"""`tidemark delta` on the main job's tables: names, VACUUM and repair, as people and programs read them."""

from __future__ import annotations

import json
from datetime import date
from typing import TYPE_CHECKING, Any

import dagster as dg
import pyarrow as pa
import pytest
from click.testing import CliRunner, Result
from deltalake import write_deltalake

from tidemark.console.main import main
from tidemark.delta.delta_rs_table import read_partition

if TYPE_CHECKING:
    from pathlib import Path

TABLE, DAY = "dws_attendance_1h", "2026-03-30"


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An hour's orders: 1 in version 0, 2 in version 1, 3 in version 2."""
    monkeypatch.setenv("TIDEMARK_DATA", str(tmp_path))
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "dagster"))
    path = tmp_path / "warehouse" / TABLE
    for orders in (1, 2, 3):
        rows = pa.table({"orders": [orders], "dt": [date(2026, 3, 30)], "hour": ["07"]})
        write_deltalake(str(path), rows, mode="overwrite", partition_by=["dt", "hour"])
    return path


def call(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(main, ["delta", *arguments])
    assert result.exit_code == code, result.output
    return result


def answer_of(*arguments: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(call(*arguments, "--json").stdout)
    return answer


@pytest.mark.usefixtures("table")
def test_versions_get_names_and_lose_them() -> None:
    snapshots = answer_of("snapshots", TABLE, "--tag", "before", "--version", "1")["snapshots"]
    assert [
        (snapshot["slice"], snapshot["period"], snapshot["version"], snapshot["rows"]) for snapshot in snapshots
    ] == [("before", "name", 1, 1)]
    assert call("snapshots", TABLE).stdout.splitlines()[1].startswith("1\tbefore\t")
    assert answer_of("snapshots", TABLE, "--drop", "before")["snapshots"] == []


def test_vacuum_keeps_tagged_versions_and_shows_why(table: Path) -> None:
    call("snapshots", TABLE, "--tag", "before", "--version", "1")
    options = ("vacuum", TABLE, "--keep-versions", "1", "--keep-age", "0h")
    plan = answer_of(*options, "--dry-run")
    assert [(version["version"], version["reasons"]) for version in plan["kept"]] == [
        (1, [f"{TABLE} before [name]"]),
        (2, ["the newest"]),
    ]
    assert (plan["files_deleted"], plan["dry_run"]) == (1, True)
    assert len(list(table.rglob("*.parquet"))) == 3
    assert answer_of(*options)["files_deleted"] == 1
    assert len(list(table.rglob("*.parquet"))) == 2
    assert "0 files, 0 bytes were deleted" in call(*options).stdout


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("vacuum", "nothing"), 1),
        (("vacuum", "dws_course_orders_1d"), 1),
        (("vacuum", TABLE, "--keep-age", "soon"), 2),
        (("snapshots", TABLE, "--version", "1"), 2),
        (("snapshots", TABLE, "--tag", "x", "--version", "9"), 1),
        (("snapshots", "dws_course_orders_1d"), 1),
        (("repair", TABLE, "2026-03-30T07"), 2),
        (("repair", TABLE, "2026-03-30T07", "--from-version", "1", "--recompute"), 2),
    ],
)
def test_wrong_calls(arguments: tuple[str, ...], code: int) -> None:
    assert call(*arguments, code=code).output


@pytest.mark.long
@pytest.mark.spark
def test_a_slice_is_repaired_and_dagster_hears_of_it(table: Path, tmp_path: Path) -> None:
    dry = answer_of("repair", TABLE, "2026-03-30T07", "--from-version", "1", "--dry-run")
    assert (dry["way"], dry["rows_before"], dry["rows_after"], dry["dry_run"]) == ("metadata", 1, 1, True)
    assert "it is version 3" in call("repair", TABLE, "2026-03-30T07", "--from-version", "1").stdout
    assert read_partition(table, {"dt": date(2026, 3, 30), "hour": "07"})["orders"].to_pylist() == [2]
    with dg.DagsterInstance.from_config(str(tmp_path / "dagster")) as instance:
        assert instance.get_materialized_partitions(dg.AssetKey(TABLE)) == {"2026-03-30-07:00"}
    assert answer_of("repair", TABLE, "2026-03-30T07", "--from-version", "1")["way"] == "nothing"
    call("repair", TABLE, "2026-03-30T07", "--from-version", "99", code=1)


@pytest.mark.usefixtures("table")
def test_versions_are_listed_to_choose_from() -> None:
    call("snapshots", TABLE, "--tag", "before", "--version", "1")
    versions = answer_of("history", TABLE)["versions"]
    assert [(version["version"], version["rows"], version["tags"]) for version in versions] == [
        (2, 1, []),
        (1, 1, ["before"]),
        (0, 1, []),
    ]
    lines = call("history", TABLE, "--limit", "2").stdout.splitlines()
    assert lines[0] == "version\ttime (Europe/Paris)\toperation\trows\ttags"
    assert [line.split("\t")[0] for line in lines[1:]] == ["2", "1"]


@pytest.mark.usefixtures("table")
def test_without_tags_the_output_has_a_hint() -> None:
    assert "tidemark delta history dws_attendance_1h lists its versions" in call("snapshots", TABLE).stdout


def test_a_table_by_its_path_has_a_history_without_tags(table: Path) -> None:
    assert [version["tags"] for version in answer_of("history", str(table))["versions"]] == [[], [], []]
