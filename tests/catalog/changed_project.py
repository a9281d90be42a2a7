"""A project of four tables that were computed for two days; tests change its files afterwards."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from tests.project import write_project
from tests.state_store.examples import chain
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.store import StateStore
from tidemark.state_store.transition import NOTHING_TOLD, Facts
from tidemark.system.settings import Settings
from tidemark.warehouse.code_version import entity_code
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.errors import QueryError
    from tidemark.warehouse.warehouse import Warehouse

NOW: Final = datetime(2026, 3, 26, tzinfo=UTC)
DAYS: Final = ("2026-03-23", "2026-03-24")
SALES: Final = "SELECT id, region, amount, amount * 2 AS twice FROM ods_sales WHERE dt = :biz_date"
FILES: Final = {
    "project.yaml": "start: 2026-03-23\nowner: o@s.example\n",
    "ods/ods_sales.yaml": "period: day\nkind: Virtual\n",
    "dwd/sales.yaml": "period: day\nquality: [{not_null: [id]}]\n",
    "dwd/sales.sql": SALES,
    "dws/amounts.yaml": "period: day\n",
    "dws/amounts.sql": "SELECT region, sum(amount) AS amount FROM sales WHERE dt = :biz_date GROUP BY region",
    "dws/twices.yaml": "period: day\n",
    "dws/twices.sql": "SELECT region, sum(twice) AS twice FROM sales WHERE dt = :biz_date GROUP BY region",
    "ads/report.yaml": "period: day\n",
    "ads/report.sql": "SELECT count(*) AS n, max(amount) AS most FROM amounts WHERE dt = :biz_date",
}
ONCE: Final = "released launched started completed"
AGAIN: Final = "backfill_requested released launched started backfilled"
TABLES: Final = ("sales", "amounts", "twices", "report")


def declare(root: Path) -> Path:
    return write_project(root, FILES, "time_zone: UTC\n")


def warehouse_at(root: Path) -> Warehouse:
    broken: dict[str, QueryError] = {}
    return load_warehouse(Settings.at(root / "data", root=root), root / "warehouse_assets", broken)


def compute(root: Path, *, told: bool = True, later: timedelta | None = None) -> None:
    """All tables of these days are computed by what is declared; again, where that is so much `later`."""
    warehouse = warehouse_at(root)
    store = StateStore.of(warehouse.settings)
    for name in TABLES:
        code = entity_code(warehouse, warehouse.entities[name], warehouse.columns.outside)
        facts = Facts(code=code.id, code_content=code.to_json()) if told else NOTHING_TOLD
        for day in DAYS:
            last, current = store.read.last(), store.read.current(Slice(name, day))
            status = current.status if current else None
            steps = chain(Slice(name, day), AGAIN if status else ONCE, last + 1, status, facts)
            moved = [replace(step, record_time=step.record_time + (later or timedelta())) for step in steps]
            store.write.append(moved, after=last)
    store.close()


def rewrite(root: Path, old: str, new: str, file: str = "dwd/sales.sql") -> None:
    path = root / "warehouse_assets" / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
