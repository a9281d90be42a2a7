"""Slices that another version of their query computed are told; descriptions change nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import dagster as dg
import pytest

from tests.compute.small_warehouse import DECLARED, small_warehouse
from tidemark.console.dagster_server.dagster_home import prepare_home
from tidemark.dagster.outdated_slices import outdated_slices
from tidemark.dependency_model.entity import EntityKind
from tidemark.warehouse.code_version import code_version
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.warehouse.warehouse import Warehouse

YAML, SQL = DECLARED["totals"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def materialized(home: Path, warehouse: Warehouse, *days: str) -> None:
    """The totals of these days, computed by what the warehouse declares."""
    prepare_home(warehouse.settings, home)
    tags = {"dagster/code_version": code_version(warehouse, warehouse.entities["totals"])}
    with dg.DagsterInstance.from_config(str(home)) as instance:
        for day in days:
            instance.report_runless_asset_event(dg.AssetMaterialization("totals", partition=day, tags=tags))


def outdated(home: Path, warehouse: Warehouse) -> dict[str, list[str]]:
    return outdated_slices(home, warehouse, warehouse.entities.values())


def test_a_changed_query_leaves_its_slices_outdated_until_they_are_computed_again(tmp_path: Path, home: Path) -> None:
    before = small_warehouse(tmp_path)
    materialized(home, before, "2026-03-24", "2026-03-23")
    assert outdated(home, before) == {}
    declared = tmp_path / "declared"
    (declared / "ads" / "totals.sql").write_text(SQL.replace("WHERE", "WHERE true AND"))
    after = load_warehouse(before.settings, declared)
    assert outdated(home, after) == {"totals": ["2026-03-23", "2026-03-24"]}
    materialized(home, after, "2026-03-24")
    assert outdated(home, after) == {"totals": ["2026-03-23"]}


def test_a_description_is_no_code(tmp_path: Path) -> None:
    described = small_warehouse(tmp_path / "a", {"totals": (f"description: The totals.\n{YAML}", SQL)})
    plain = small_warehouse(tmp_path / "b")
    versions = {code_version(warehouse, warehouse.entities["totals"]) for warehouse in (described, plain)}
    assert len(versions) == 1
    captured = replace(plain.entities["totals"], kind=EntityKind.SNAPSHOT)
    assert code_version(plain, captured) not in versions
