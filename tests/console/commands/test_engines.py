"""`engines` prints the text for a slice, for the newest one, or for a tag; what cannot be read gets a message."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from tests.engines.paste import python_text
from tests.engines.small_lake import DAYS, HOURS, LATE, TAG, small_lake
from tests.project import write_project
from tidemark.console.main import main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_lake(tmp_path)
    root = write_project(tmp_path / "project", {"ads/feed.yaml": "kind: Virtual\nperiod: day\n"})
    for file in (tmp_path / "declared").rglob("*.*"):
        to = root / "warehouse_assets" / file.relative_to(tmp_path / "declared")
        to.write_bytes(file.read_bytes())
    monkeypatch.setenv("TIDEMARK_ROOT", str(root))
    monkeypatch.setenv("TIDEMARK_DATA", str(tmp_path / "data"))


def engines(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(main, ["engines", *arguments])
    assert result.exit_code == code, result.output
    return result


def test_a_slice_is_a_version_and_a_partition() -> None:
    printed = json.loads(engines("clicks", "--for", "duckdb", "--slice", HOURS[1], "--json").stdout)
    assert printed["version"] == 1
    assert printed["partition"] == {"dt": "2026-03-23", "hour": "08"}
    assert printed["text"] == engines("clicks", "--for", "duckdb", "--slice", HOURS[1]).stdout
    assert printed["is_tested"]


def test_the_newest_complete_slice_is_the_default() -> None:
    assert json.loads(engines("clicks", "--for", "spark", "--json").stdout)["name"] == HOURS[-1]


def test_a_tag_of_people_has_its_version() -> None:
    printed = json.loads(engines("ods_orders", "--for", "polars", "--tag", TAG, "--json").stdout)
    assert (printed["name"], printed["version"], printed["partition"]) == (TAG, 0, {})


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("clicks", "--slice", "2026-03-25T07"), 75, "not ready"),
        (("clicks", "--slice", "2026-03-25"), 1, "2026-03-25"),
        (("clicks", "--tag", "nope"), 1, "nope"),
        (("ods_orders", "--slice", LATE.slice), 1, "restated"),
        (("ods_orders", "--slice", "2026-03-27"), 75, "not complete"),
        (("sales",), 1, "not a Delta table"),
        (("feed",), 1, "not in a table of this lake"),
        (("nope",), 1, "nope"),
        (("clicks", "--slice", HOURS[0], "--tag", TAG), 2, "exclude each other"),
        (("ods_orders", "--slice", DAYS[0], "--for", "excel"), 2, "excel"),
    ],
)
def test_unreadable_tables_are_clear_errors(arguments: tuple[str, ...], code: int, message: str) -> None:
    assert message in engines(arguments[0], "--for", "duckdb", *arguments[1:], code=code).output


def test_iceberg_is_printed_once_it_is_declared_and_written(tmp_path: Path) -> None:
    assert "read_by: [iceberg]" in engines("clicks", "--for", "iceberg", code=1).output
    declared = tmp_path / "project" / "warehouse_assets" / "ads" / "clicks.yaml"
    declared.write_text("period: hour\nread_by: [iceberg]\n")
    assert "`tidemark delta iceberg`" in engines("clicks", "--for", "iceberg", code=1).output
    result = CliRunner().invoke(main, ["delta", "iceberg", "--json"])
    assert result.exit_code == 0, result.output
    (told,) = json.loads(result.stdout)["tables"]
    assert (told["entity"], told["tags"], told["why"]) == ("clicks", 3, "")
    printed = json.loads(engines("clicks", "--for", "iceberg", "--slice", HOURS[1], "--json").stdout)
    assert sorted(row["id"] for row in python_text(printed["text"]).to_pylist()) == [10, 11, 12, 13, 14]
    assert "3 tags" in CliRunner().invoke(main, ["delta", "iceberg", "clicks"]).output
    assert CliRunner().invoke(main, ["delta", "iceberg", "ods_orders"]).exit_code == 1
