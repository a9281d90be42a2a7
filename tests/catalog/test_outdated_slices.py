"""Slices that another version of their query computed are listed; descriptions, comments and rules change nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.compute.small_warehouse import DECLARED, small_warehouse
from tests.state_store.examples import chain
from tidemark.catalog.outdated_slices import outdated_slices
from tidemark.dependency_model.entity import EntityKind
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.code_registry import CodeRegistry
from tidemark.state_store.store import StateStore
from tidemark.state_store.transition import Facts
from tidemark.warehouse.code_version import code_version, entity_code
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.warehouse.warehouse import Warehouse

YAML, SQL = DECLARED["totals"]
_RUN = "released launched started completed"


def compute(store: StateStore, warehouse: Warehouse, *days: str, told: bool = True, again: bool = False) -> None:
    """The totals of these days are computed by what the warehouse declares."""
    code = entity_code(warehouse, warehouse.entities["totals"])
    facts = Facts(code=code.id, code_content=code.to_json()) if told else Facts(run_id="by hand")
    for day in days:
        slice_, last = Slice("totals", day), store.read.last()
        current = store.read.current(slice_)
        events = f"backfill_requested {_RUN.replace('completed', 'backfilled')}" if again else _RUN
        status = current.status if current else None
        store.write.append(chain(slice_, events, last + 1, status, facts), after=last)


def outdated(store: StateStore, warehouse: Warehouse) -> dict[str, list[str]]:
    return outdated_slices(CodeRegistry(store.database), warehouse, warehouse.entities.values())


def test_a_changed_query_leaves_its_slices_outdated_until_they_are_computed_again(tmp_path: Path) -> None:
    before = small_warehouse(tmp_path)
    store = StateStore.of(before.settings)
    compute(store, before, "2026-03-24", "2026-03-23")
    assert outdated(store, before) == {}
    file = tmp_path / "declared" / "ads" / "totals.sql"
    file.write_text(SQL.replace("WHERE", "-- of the day\nwhere"))
    assert outdated(store, load_warehouse(before.settings, tmp_path / "declared")) == {}
    file.write_text(SQL.replace("WHERE", "WHERE true AND"))
    after = load_warehouse(before.settings, tmp_path / "declared")
    assert outdated(store, after) == {"totals": ["2026-03-23", "2026-03-24"]}
    compute(store, after, "2026-03-24", again=True)
    assert outdated(store, after) == {"totals": ["2026-03-23"]}
    store.close()


def test_the_code_of_a_foreign_computation_is_unknown(tmp_path: Path) -> None:
    warehouse = small_warehouse(tmp_path)
    store = StateStore.of(warehouse.settings)
    registry = CodeRegistry(store.database)
    compute(store, warehouse, "2026-03-23", "2026-03-24")
    assert registry.of_unknown_code() == {}
    compute(store, warehouse, "2026-03-24", told=False, again=True)
    assert registry.of_unknown_code() == {"totals": 1}
    code = entity_code(warehouse, warehouse.entities["totals"])
    assert registry.slices_by([code.id]) == {code.id: [Slice("totals", "2026-03-23")]}
    assert [(stored.entity, stored.content) for stored in registry.codes()] == [("totals", code.to_json())]
    store.close()


def test_each_code_is_stored_once_even_if_reported_late(tmp_path: Path) -> None:
    warehouse = small_warehouse(tmp_path)
    store = StateStore.of(warehouse.settings)
    registry, code = CodeRegistry(store.database), entity_code(warehouse, warehouse.entities["totals"])
    for seq, content in ((0, ""), (4, code.to_json()), (8, "")):
        told = Facts(code=code.id, code_content=content)
        store.write.append(chain(Slice("totals", f"2026-03-2{seq}"), _RUN, seq + 1, facts=told), after=seq)
        assert registry.is_known(code.id, "totals") == bool(seq)
    assert [stored.content for stored in registry.codes()] == [code.to_json()]
    store.close()


def test_descriptions_and_rules_are_not_part_of_the_code(tmp_path: Path) -> None:
    described = small_warehouse(tmp_path / "a", {"totals": (f"description: The totals.\n{YAML}", SQL)})
    plain = small_warehouse(tmp_path / "b")
    unchecked = small_warehouse(tmp_path / "c", {"totals": (YAML.replace("  - unique: [region]\n", ""), SQL)})
    codes = [entity_code(warehouse, warehouse.entities["totals"]) for warehouse in (described, plain, unchecked)]
    assert len({code.version for code in codes}) == 1
    assert [code.id == codes[0].id for code in codes] == [True, True, False]
    captured = replace(plain.entities["totals"], kind=EntityKind.SNAPSHOT)
    assert code_version(plain, captured) != codes[0].version


@pytest.mark.parametrize(("text", "is_changed"), [("RATE = 3\n", True), ("# a comment\nRATE=2\n", False)])
def test_a_functions_code_is_that_of_the_modules_that_it_imports(tmp_path: Path, text: str, is_changed: bool) -> None:
    (tmp_path / "tidemark.yaml").write_text("")
    (tmp_path / "shop").mkdir()
    module = tmp_path / "shop" / "rates.py"
    module.write_text("RATE = 2\n")
    warehouse = small_warehouse(tmp_path, {"running": ("period: day\ndepends_on: [sales]\n", "")})
    path = tmp_path / "declared" / "ads" / "running.py"
    (path.with_suffix(".sql")).unlink(missing_ok=True)
    path.write_text("from shop.rates import RATE\n\n\ndef compute(sales):\n    return sales.limit(RATE)\n")
    versions = []
    for content in ("RATE = 2\n", text):
        module.write_text(content)
        loaded = load_warehouse(warehouse.settings, tmp_path / "declared")
        versions.append(code_version(loaded, loaded.entities["running"]))
    assert (versions[0] != versions[1]) is is_changed
