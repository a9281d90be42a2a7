"""`show` gives rows of exactly one slice: of a partition, or of a tagged version."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result
from deltalake import write_deltalake

from tidemark.console.main import main
from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

HOURLY = "dws_attendance_1h"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Two hours of a computed table, and a captured table of two versions, of which the older one is tagged."""
    monkeypatch.setenv("TIDEMARK_DATA", str(tmp_path))
    hours = pa.table({"orders": [5, 6, 7], "dt": [date(2026, 3, 30)] * 3, "hour": ["07", "07", "08"]})
    write_deltalake(str(tmp_path / "warehouse" / HOURLY), hours, partition_by=["dt", "hour"])
    for orders in ([1], [1, 2]):
        table = str(tmp_path / "warehouse" / "ods_orders")
        write_deltalake(table, pa.table({"order_id": orders}), mode="overwrite")
    settings = Settings.at(tmp_path)
    tagged = TaggedSnapshot("ods_orders", "day", "2026-03-29", 0, 1, datetime(2026, 3, 30, tzinfo=UTC))
    SnapshotRegistry.at(settings.state_db).tag([tagged])
    return settings


def show(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(main, ["show", *arguments])
    assert result.exit_code == code, result.output
    return result


def rows(*arguments: str) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = json.loads(show(*arguments, "--json").stdout)["rows"]
    return told


@pytest.mark.usefixtures("settings")
def test_a_computed_slice_is_its_partition() -> None:
    assert [row["orders"] for row in rows(HOURLY, "2026-03-30T07")] == [5, 6]
    assert [row["orders"] for row in rows(HOURLY, "2026-03-30T07", "--limit", "1")] == [5]
    assert show(HOURLY, "2026-03-30T08").stdout == "orders\tdt\thour\n7\t2026-03-30\t08\n"


@pytest.mark.spark
@pytest.mark.parametrize(
    ("condition", "orders"),
    [
        ("orders > 5 OR orders > 6", [6]),
        ("orders / 4 = 1.25", [5]),
        ("substring(hour, 0, 1) = '0' AND concat(hour, NULL) IS NULL", [5, 6]),
        ("date_format(dt, 'yyyy-MM-dd') = '2026-03-30'", [5, 6]),
    ],
)
@pytest.mark.usefixtures("settings", "spark")
def test_a_condition_has_the_same_meaning_as_in_a_query(condition: str, orders: list[int]) -> None:
    assert [row["orders"] for row in rows(HOURLY, "2026-03-30T07", "--where", condition)] == orders


@pytest.mark.spark
@pytest.mark.usefixtures("settings", "spark")
def test_a_condition_that_cannot_be_evaluated_is_refused() -> None:
    result = show(HOURLY, "2026-03-30T07", "--where", "nope = 1", code=1)
    assert "nope" in result.stderr


@pytest.mark.usefixtures("settings")
def test_a_snapshot_is_its_version() -> None:
    assert rows("ods_orders", "2026-03-29") == [{"order_id": 1}]


@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((HOURLY, "2026-03-30T09"), 0, "no rows of dws_attendance_1h@2026-03-30T09"),
        ((HOURLY, "2026-03-30"), 1, "2026-03-30"),
        (("dws_attendance", "2026-03-30"), 1, "did you mean"),
        (("ads_gmv_course", "2026-03-30"), 1, "not a Delta table"),
        (("ods_orders", "2026-03-28"), 75, "ods_orders"),
    ],
)
def test_missing_slices_are_clear_errors(arguments: tuple[str, ...], code: int, words: str) -> None:
    result = show(*arguments, code=code)
    assert words in result.stdout + result.stderr
