"""Doctor says from which day on Java's clock of a zone is another one than the slices'."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tests.compute.small_warehouse import small_warehouse
from tests.project import write_project
from tidemark.compute import slice_clock
from tidemark.compute.errors import ZoneRulesError
from tidemark.compute.slice_clock import require_same_rules
from tidemark.console.preflight import zone_rules as preflight
from tidemark.console.preflight.zone_rules import zone_rules
from tidemark.dependency_model.slice import Slice
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

SALES = "1 AS id, 10 AS amount, 'cn' AS region WHERE 1 = 0"
CHANGE = int(datetime(2026, 3, 26, 12, tzinfo=UTC).timestamp())


def since_the_change(name: str, _command: str) -> tuple[tuple[int, int], ...]:
    return ((CHANGE, CHANGE + 864_000),) if name == "Europe/Paris" else ()


def test_a_zone_whose_rules_differ_is_named_with_its_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_project(tmp_path, {"ods/ods_a.yaml": "kind: Virtual\nperiod: day\ntime_zone: Europe/Paris\n"})
    settings = Settings.at(tmp_path / "data", root=str(tmp_path))
    assert zone_rules(settings, {}) == []
    monkeypatch.setattr(preflight, "differences", since_the_change)
    for now, verdict in ((datetime(2026, 3, 1, tzinfo=UTC), "warning"), (datetime(2026, 4, 1, tzinfo=UTC), "problem")):
        (finding,) = zone_rules(settings, {}, now)
        assert (finding.verdict, "Europe/Paris from 2026-03-26 on" in finding.found) == (verdict, True)


def test_only_slices_in_the_time_that_differs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slice_clock, "differences", since_the_change)
    warehouse = small_warehouse(tmp_path)
    require_same_rules(warehouse, [Slice("sales", "2026-03-25")])
    slices = [Slice("sales", "2026-03-25"), Slice("sales", "2026-03-26")]
    with pytest.raises(ZoneRulesError, match="Java's clock of Europe/Paris"):
        require_same_rules(warehouse, slices)
    require_same_rules(warehouse, slices, lambda _: False)


def test_a_zone_that_the_query_names_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slice_clock, "differences", since_the_change)
    query = "SELECT to_date(from_utc_timestamp(paid_at, 'Europe/Paris')) AS day FROM sales WHERE dt = :biz_date\n"
    declared = "period: day\ntime_zone: UTC\n"
    warehouse = small_warehouse(
        tmp_path, {"days": (declared, query), "sales": (declared, f"SELECT now() AS paid_at, {SALES}\n")}
    )
    require_same_rules(warehouse, [Slice("days", "2026-03-25"), Slice("sales", "2026-03-26")])
    with pytest.raises(ZoneRulesError, match="Java's clock of Europe/Paris"):
        require_same_rules(warehouse, [Slice("days", "2026-03-26")])
