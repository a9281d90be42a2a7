"""A warehouse of three entities in a folder: a daily table that tests fill by hand, and two that are computed of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import Warehouse, load_warehouse

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PROJECT = "time_zone: Europe/Paris\nstart: 2026-03-23\nowner: data@school.example\n"
TOTALS = """
period: day
depends_on: [{entity: sales, offset: Set 0}]
quality:
  - unique: [region]
  - not_null: [region]
  - row_count: {min: 1, max: 3}
  - accepted_values: {column: region, values: [cn, eu]}
  - reconcile: {value: sum(amount), equals: "SELECT sum(amount) FROM sales WHERE dt = :biz_date"}
export: true
"""
RUNNING = """
period: day
kind: Cumulative
depends_on:
  - {entity: totals, offset: Set 0}
  - {entity: sales, offset: "Set -1,0"}
"""
DECLARED = {
    "sales": ("period: day\n", "SELECT 1 AS id, 10 AS amount, 'cn' AS region WHERE 1 = 0\n"),
    "totals": (TOTALS, "SELECT region, sum(amount) AS amount FROM sales WHERE dt = :biz_date GROUP BY region\n"),
    "running": (RUNNING, "SELECT count(*) AS everything FROM sales\n"),
}


def small_warehouse(folder: Path, changed: Mapping[str, tuple[str, str]] | None = None) -> Warehouse:
    root = folder / "declared"
    (root / "ads").mkdir(parents=True)
    (root / "project.yaml").write_text(PROJECT)
    for name, (yaml, sql) in {**DECLARED, **(changed or {})}.items():
        (root / "ads" / f"{name}.yaml").write_text(yaml)
        if sql:
            (root / "ads" / f"{name}.sql").write_text(sql)
    return load_warehouse(Settings.at(folder / "data"), root)
