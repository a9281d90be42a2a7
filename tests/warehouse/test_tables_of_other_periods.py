"""A table that was written for another period than its entity has now."""

from __future__ import annotations

import datetime as dt
import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from click.testing import CliRunner
from deltalake import write_deltalake

from tests.project import write_project
from tidemark.console.main import main
from tidemark.system.settings import Settings
from tidemark.warehouse.tables_of_other_periods import tables_of_other_periods
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from pathlib import Path

DAYS = [dt.date(2026, 3, 23), dt.date(2026, 3, 24)]
TABLES: dict[str, dict[str, list[object]]] = {
    "hour": {"dt": [*DAYS], "hour": ["07", "08"]},
    "10min": {"dt": [*DAYS], "hour": ["07", "08"], "minute": ["00", "30"]},
    "5min": {"dt": [*DAYS], "hour": ["07", "08"], "minute": ["00", "35"]},
    "day": {"dt": [*DAYS]},
    "week": {"dt": [DAYS[0]]},
    "month": {"dt": [dt.date(2026, 3, 1)]},
    "static": {},
}
FITS = {("10min", "5min"), ("week", "day"), ("month", "day"), *((period, period) for period in TABLES)}


def declared(period: str) -> str:
    return "kind: Static\n" if period == "static" else f"period: {period}\n"


def project(root: Path, now: str) -> Settings:
    """A table that was written for each period, all of entities that have the same one now."""
    files = {f"dws/dws_{written}.{kind}": text for written in TABLES for kind, text in _files(now)}
    write_project(root, files)
    settings = Settings.at(root / "data", root=str(root))
    for written, columns in TABLES.items():
        rows = len(columns.get("dt", [0]))
        path = settings.warehouse / f"dws_{written}"
        write_deltalake(str(path), pa.table({"x": [1] * rows, **columns}), partition_by=[*columns])
    return settings


def _files(period: str) -> list[tuple[str, str]]:
    return [("yaml", declared(period)), ("sql", "SELECT 1 AS x\n")]


@pytest.mark.parametrize("now", TABLES)
def test_each_change_of_the_period_with_old_slices_is_reported(tmp_path: Path, now: str) -> None:
    settings = project(tmp_path, now)
    warehouse = load_warehouse(settings)
    expected = {f"dws_{written}" for written in TABLES if (written, now) not in FITS}
    for _ in range(2):  # the second time from the cache
        told = tables_of_other_periods(settings, settings.declarations, warehouse.entities.values(), warehouse.queries)
        assert {*told} == expected


def test_check_plan_and_show_say_so(tmp_path: Path) -> None:
    project(tmp_path, "hour")
    run = CliRunner().invoke
    for command, words in (
        (["check"], "partitions by dt, hour"),
        (["plan"], "partitions by dt, hour"),
        (["show", "dws_day", "2026-03-23T07"], "--rebuild"),
    ):
        result = run(main, [*command, "--root", str(tmp_path)])
        assert result.exit_code != 0, command
        assert words in " ".join(result.output.split()), (command, result.output)
    fits = run(main, ["plan", "dws_hour", "--json", "--root", str(tmp_path)])
    assert "dws_hour" not in json.loads(fits.stdout)["broken"]
