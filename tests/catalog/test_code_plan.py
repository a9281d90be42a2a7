"""What a change of code outdates, and what of it is touched downstream: by columns, and no slice more than that."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select, update

from tests.catalog.changed_project import AGAIN, DAYS, NOW, TABLES, compute, declare, rewrite, warehouse_at
from tests.state_store.examples import chain
from tidemark.catalog.code_plan import CodePlan, code_plan
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.code_registry import CodeRegistry
from tidemark.state_store.schema import CODE_VERSIONS, SLICE_CODES
from tidemark.state_store.store import StateStore
from tidemark.state_store.transition import Facts
from tidemark.warehouse.code_change import ChangeKind
from tidemark.warehouse.code_version import entity_code

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return declare(tmp_path)


def plan_of(root: Path, *names: str) -> CodePlan:
    warehouse = warehouse_at(root)
    store = StateStore.of(warehouse.settings)
    told = code_plan(warehouse, CodeRegistry(store.database), store.read, NOW, names)
    store.close()
    return told


@pytest.mark.parametrize(
    ("old", "new", "kind", "touched"),
    [
        ("amount * 2", "amount * 3", ChangeKind.CHANGED, {"twices"}),
        ("id, region, amount,", "id, region, -amount AS amount,", ChangeKind.CHANGED, {"amounts", "report"}),
        ("WHERE", "WHERE id > 0 AND", ChangeKind.CHANGED, {"amounts", "twices", "report"}),
        ("AS twice", "AS twice, id + 1 AS following", ChangeKind.ADDITIVE, set()),
        ("id, region", "id AS number, region", ChangeKind.RENAMED, set()),
        ("amount * 2", "CAST(amount * 2 AS BIGINT)", ChangeKind.BREAKING, {"twices"}),
        (", amount * 2 AS twice", "", ChangeKind.BREAKING, {"twices"}),
    ],
)
def test_only_entities_that_use_a_changed_column_are_touched(
    root: Path, old: str, new: str, kind: ChangeKind, touched: set[str]
) -> None:
    compute(root)
    rewrite(root, old, new)
    (planned,) = plan_of(root).entities
    assert (planned.entity, planned.change.kind, [slice_.key for slice_ in planned.outdated]) == (
        "sales",
        kind,
        [*DAYS],
    )
    assert set(planned.touched) == touched
    assert all([slice_.key for slice_ in slices] == [*DAYS] for slices in planned.touched.values())
    assert set(planned.untouched) == {"amounts", "twices"} - touched


@pytest.mark.parametrize(("old", "new"), [("WHERE", "-- of the day\n  where"), ("SELECT", "select /* all */")])
def test_layout_is_not_a_change(root: Path, old: str, new: str) -> None:
    compute(root)
    rewrite(root, old, new)
    assert plan_of(root) == CodePlan((), {})


def test_a_rule_changes_no_row(root: Path) -> None:
    compute(root)
    rewrite(root, "[id]", "[id, region]", "dwd/sales.yaml")
    (planned,) = plan_of(root).entities
    assert (planned.change.kind, planned.outdated, planned.touched) == (ChangeKind.RULES, (), {})


def test_code_that_was_stored_with_the_inputs_of_its_rules_has_not_changed(root: Path) -> None:
    rule = "quality: [{reconcile: {value: count(*), equals: SELECT count(*) FROM ods_sales WHERE dt = :biz_date}}]"
    rewrite(root, "period: day\n", f"period: day\n{rule}\n", "dws/amounts.yaml")
    compute(root)
    warehouse = warehouse_at(root)
    store = StateStore.of(warehouse.settings)
    with store.database.writing() as connection:
        columns = CODE_VERSIONS.c
        (content,) = connection.execute(select(columns.content).where(columns.entity == "amounts")).scalars()
        older = json.loads(content)
        older["rows"]["depends_on"] += "; completed ods_sales Set 0 completed"
        stored = update(CODE_VERSIONS).where(columns.entity == "amounts")
        connection.execute(stored.values(content=json.dumps(older), code="of an older version"))
        connection.execute(
            update(SLICE_CODES).where(SLICE_CODES.c.entity == "amounts").values(code="of an older version")
        )
    store.close()
    assert plan_of(root).entities == ()


def test_another_offset_changes_rows(root: Path) -> None:
    compute(root)
    rewrite(root, "dt = :biz_date", "dt = date_sub(:biz_date, 1)")
    (planned,) = plan_of(root).entities
    assert planned.change.kind is ChangeKind.CHANGED
    assert any(word.startswith("depends_on") for word in planned.change.words)


def test_a_function_whose_inputs_nobody_has_looked_at_yet_has_not_changed(root: Path) -> None:
    """As in a clone without data: `check` finds the inputs there."""
    report = root / "warehouse_assets" / "ads"
    (report / "report.sql").unlink()
    function = "def compute(amounts, *, biz_date):\n    return amounts\n"
    (report / "report.py").write_text(function)
    (report / "report.yaml").write_text("period: day\ndepends_on: [{entity: amounts, offset: Set 0}]\n")
    compute(root)
    (report / "report.yaml").write_text("period: day\n")
    assert "report" in warehouse_at(root).unread
    assert plan_of(root).entities == ()
    (report / "report.py").write_text(function.replace("return amounts", "return amounts.distinct()"))
    (planned,) = plan_of(root).entities
    assert planned.change.words == ("its function has changed",)


def test_slices_of_unknown_code_are_counted(root: Path) -> None:
    compute(root, told=False)
    rewrite(root, "amount * 2", "amount * 3")
    assert plan_of(root) == CodePlan((), dict.fromkeys(TABLES, len(DAYS)))


def test_only_the_chosen_entities_are_looked_at(root: Path) -> None:
    compute(root)
    rewrite(root, "amount * 2", "amount * 3")
    rewrite(root, "max(amount)", "min(amount)", "ads/report.sql")
    assert [planned.entity for planned in plan_of(root).entities] == ["sales", "report"]
    assert [planned.entity for planned in plan_of(root, "report", "twices").entities] == ["report"]
    assert len(plan_of(root).slices) == len({"sales", "twices", "report"}) * len(DAYS)


def test_slices_that_were_computed_again_are_up_to_date(root: Path) -> None:
    compute(root)
    rewrite(root, "amount * 2", "amount * 3")
    warehouse = warehouse_at(root)
    store = StateStore.of(warehouse.settings)
    code = entity_code(warehouse, warehouse.entities["sales"], warehouse.columns.outside)
    again = Slice("sales", DAYS[0])
    current, last = store.read.current(again), store.read.last()
    assert current
    events = "backfill_requested released launched started backfilled"
    facts = Facts(code=code.id, code_content=code.to_json())
    store.write.append(chain(again, events, last + 1, current.status, facts), after=last)
    store.close()
    (planned,) = plan_of(root).entities
    assert planned.outdated == (Slice("sales", DAYS[1]),)
    assert planned.touched == {"twices": (Slice("twices", DAYS[1]),)}


def test_slices_that_ran_by_another_clock(root: Path) -> None:
    """As versions did that ran every query by UTC's: only entities whose rows go by the clock are outdated."""
    compute(root)
    (root / "tidemark.yaml").write_text("time_zone: Europe/Paris\n")
    warehouse = warehouse_at(root)
    store = StateStore.of(warehouse.settings)
    for name in TABLES:
        code = replace(entity_code(warehouse, warehouse.entities[name], warehouse.columns.outside), clock="UTC")
        content = json.loads(code.to_json())
        del content["clock"]
        for day in DAYS:
            last, current = store.read.last(), store.read.current(Slice(name, day))
            assert current
            facts = Facts(code=code.id, code_content=json.dumps(content))
            store.write.append(chain(Slice(name, day), AGAIN, last + 1, current.status, facts), after=last)
    registry = CodeRegistry(store.database)
    told = code_plan(warehouse, registry, store.read, NOW, (), None, lambda name: name == "amounts")
    assert [(planned.entity, planned.change.kind, planned.change.words) for planned in told.entities] == [
        ("amounts", ChangeKind.CHANGED, ("it runs by the clock of Europe/Paris, and ran by that of UTC",))
    ]
    assert [slice_.key for slice_ in told.entities[0].outdated] == [*DAYS]
    assert set(told.entities[0].touched) == {"report"}
    assert code_plan(warehouse, registry, store.read, NOW, (), None, lambda _: False).entities == ()
    store.close()
