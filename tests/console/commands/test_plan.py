"""`tidemark plan`: for people, for programs, and for a pipeline by its exit code."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from click.testing import CliRunner
from deltalake import write_deltalake

from tests.catalog.changed_project import DAYS, NOW, compute, declare, rewrite, warehouse_at
from tidemark.center.center import DependencyCenter
from tidemark.console.exit_codes import ExitCode
from tidemark.console.main import main
from tidemark.state_store.store import StateStore

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return declare(tmp_path)


def plan(root: Path, *arguments: str) -> Result:
    env = {"TIDEMARK_ROOT": str(root), "TIDEMARK_DATA": str(root / "data")}
    return CliRunner().invoke(main, ["plan", *arguments], env=env)


def test_nothing_is_outdated_where_nothing_was_computed_or_nothing_has_changed(root: Path) -> None:
    told = plan(root)
    assert (told.exit_code, told.output) == (ExitCode.OK, "no slice is outdated\n")
    compute(root)
    assert plan(root).exit_code == ExitCode.OK
    rewrite(root, "SELECT", "-- as it is\nselect")
    assert json.loads(plan(root, "--json").output) == {
        "entities": [],
        "unknown": {},
        "broken": {},
        "declared": [],
        "widened": [],
        "slices": 0,
        "cost": None,
    }


def test_a_change_is_shown_with_its_effects_and_cost(root: Path) -> None:
    compute(root)
    rewrite(root, "amount * 2", "amount * 3")
    told = plan(root)
    assert told.exit_code == ExitCode.OUTDATED
    assert told.output.splitlines()[:2] == ["sales: changed", "  twice has another expression"]
    for line in (
        "  downstream\ttwices\t2: 2026-03-23 .. 2026-03-24",
        "2 slices are outdated, 2 more are downstream",
    ):
        assert line in told.output.splitlines()
    data = json.loads(plan(root, "--json").output)
    assert data["slices"] == 2 * len(DAYS)
    assert data["cost"]["work_seconds"] > 0
    (entity,) = data["entities"]
    assert (entity["columns"], entity["outdated"], entity["untouched"]) == (["twice"], [*DAYS], ["amounts"])


def test_a_new_column_is_null_in_the_slices_that_are_there(root: Path) -> None:
    compute(root)
    rewrite(root, "AS twice", "AS twice, id + 1 AS following")
    assert "  NULL until the slices are computed again: following" in plan(root).output
    assert json.loads(plan(root, "--json").output)["entities"][0]["null_until_computed"] == ["following"]


def test_a_reader_of_a_column_that_is_gone_is_named(root: Path) -> None:
    compute(root)
    rewrite(root, ", amount * 2 AS twice", "")
    told = plan(root)
    assert told.exit_code == ExitCode.OUTDATED
    assert "sales: breaking" in told.output
    assert "twice is gone, and is read" in told.output
    assert "twices is broken: " in told.output


@pytest.fixture
def started(root: Path) -> Path:
    """The project, with its tables computed, after a center has run."""
    compute(root)
    start_center(root)
    assert plan(root).output == "no slice is outdated\n"
    return root


def start_center(root: Path) -> None:
    warehouse = warehouse_at(root)
    store = StateStore.of(warehouse.settings)
    DependencyCenter(warehouse.graph, store, since=NOW, clock=lambda: NOW).tick()
    store.close()


def declared(root: Path, *entities: str) -> list[dict[str, object]]:
    changes: list[dict[str, object]] = json.loads(plan(root, *entities, "--json").output)["declared"]
    return changes


def test_added_and_removed_entities_are_listed_with_their_slices(started: Path) -> None:
    assets = started / "warehouse_assets"
    (assets / "ads" / "report.yaml").unlink()
    (assets / "ads" / "report.sql").unlink()
    (assets / "ads" / "totals.yaml").write_text("period: day\nend: 2026-03-26\n")
    (assets / "ads" / "totals.sql").write_text("SELECT sum(amount) AS total FROM amounts WHERE dt = :biz_date")
    told = plan(started)
    assert told.exit_code == ExitCode.OUTDATED
    assert told.output.splitlines() == [
        "report: removed",
        "  the table report stays in the lake, and nothing computes it any more",
        "totals: added",
        "  3 slices to compute: 2026-03-23 .. 2026-03-25",
    ]
    assert declared(started, "totals") == [
        {
            "entity": "totals",
            "change": "added",
            "before": None,
            "now": None,
            "slices": 3,
            "first": "2026-03-23",
            "last": "2026-03-25",
            "gone": 0,
        }
    ]
    start_center(started)
    assert declared(started) == []


def test_a_renamed_entity_is_found_by_its_code(started: Path) -> None:
    assets = started / "warehouse_assets" / "ads"
    for suffix in ("yaml", "sql"):
        (assets / f"report.{suffix}").rename(assets / f"summary.{suffix}")
    rewrite(started, "SELECT count(*)", "-- as before\nselect count(*)", "ads/summary.sql")
    (change,) = declared(started)
    assert (change["change"], change["before"], change["now"]) == ("renamed", "report", "summary")
    assert "the table report stays in the lake" in plan(started).output


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("2026-02-23", ("2026-03-23", "2026-02-23", 28, "2026-02-23", "2026-03-22", 0)),
        ("2026-03-24", ("2026-03-23", "2026-03-24", 0, None, None, 1)),
    ],
    ids=["earlier", "later"],
)
def test_a_start_that_moved_names_the_slices_to_fill(started: Path, start: str, expected: tuple[object, ...]) -> None:
    rewrite(started, "period: day\n", f"period: day\nstart: {start}\n", "dws/twices.yaml")
    (change,) = declared(started)
    assert change["entity"] == "twices"
    assert change["change"] == "another start"
    assert tuple(change[key] for key in ("before", "now", "slices", "first", "last", "gone")) == expected


def test_an_end_that_moved_counts_the_slices_behind_it(started: Path) -> None:
    rewrite(started, "period: day\n", "period: day\nend: 2026-03-24\n", "dws/twices.yaml")
    (change,) = declared(started)
    assert [change[key] for key in ("change", "before", "now", "slices")] == ["another end", None, "2026-03-23", 0]
    start_center(started)
    rewrite(started, "end: 2026-03-24", "end: 2026-03-25", "dws/twices.yaml")
    (change,) = declared(started)
    assert [change[key] for key in ("before", "now", "slices", "first")] == [
        "2026-03-23",
        "2026-03-24",
        1,
        "2026-03-24",
    ]


def test_another_period_is_a_new_table(started: Path) -> None:
    rewrite(started, "period: day", "period: week", "dws/twices.yaml")
    (change,) = declared(started)
    assert [change[key] for key in ("change", "before", "now")] == ["another period", "day", "week"]
    assert "twices: another period (day -> week)" in plan(started).output


def test_sub_partitions_that_come_and_go_are_named(started: Path) -> None:
    def regions(names: str) -> None:
        rewrite(started, "period: day\n", f"period: day\nsub_partitions: {{region: [{names}]}}\n", "ods/ods_sales.yaml")

    regions("eu, us")
    (change,) = declared(started)
    assert [change[key] for key in ("change", "now")] == ["other sub-partitions", "region=eu; region=us"]
    assert (change["first"], int(str(change["slices"])) % 2) == ("2026-03-23", 0)
    start_center(started)
    rewrite(started, "[eu, us]", "[us, asia]", "ods/ods_sales.yaml")
    (change,) = declared(started)
    assert [change[key] for key in ("before", "now")] == ["region=eu", "region=asia"]


def test_slices_that_need_more_as_declared_now_are_listed_before_the_center_starts(started: Path) -> None:
    root = started
    rewrite(
        root, "WHERE dt = :biz_date", "WHERE dt >= :biz_date - INTERVAL 1 DAY AND dt <= :biz_date", "ads/report.sql"
    )
    told = plan(root, "report")
    assert told.exit_code == ExitCode.OUTDATED
    lines = told.output.splitlines()
    assert "report: needs more" in lines
    assert "  2026-03-24 has not read amounts@2026-03-23" in lines
    assert "  needs more\treport\t1: 2026-03-24" in lines
    (entity,) = json.loads(plan(root, "--json").output)["widened"]
    assert entity == {"entity": "report", "reprocess": "always", "lacks": {"2026-03-24": ["amounts@2026-03-23"]}}
    assert json.loads(plan(root, "amounts", "--json").output)["widened"] == []


def test_a_rule_that_reads_another_table_outdates_nothing(started: Path) -> None:
    """Later slices wait for that table; rows that exist do not depend on it."""
    equals = "SELECT count(*) FROM ods_sales WHERE dt = :biz_date"
    rule = f"quality: [{{reconcile: {{value: count(*), equals: {equals}}}}}]"
    rewrite(started, "period: day\n", f"period: day\n{rule}\n", "dws/amounts.yaml")
    assert {needed.entity for needed in warehouse_at(started).entities["amounts"].depends_on} == {"sales", "ods_sales"}
    told = plan(started)
    assert told.exit_code == ExitCode.OK
    assert told.output.splitlines() == [
        "amounts: rules",
        f"  quality: reconcile(value='count(*)', equals='{equals}', tolerance=0.0) is new",
        "no slice is outdated",
    ]
    compute(started)
    rewrite(started, rule, "quality: [{unique: [region]}]", "dws/amounts.yaml")
    assert [line for line in plan(started).output.splitlines() if "outdated" in line] == ["no slice is outdated"]


def test_a_table_of_a_query_and_a_rule_is_an_input_of_the_rows(started: Path) -> None:
    rule = "quality: [{reconcile: {value: sum(amount), equals: SELECT sum(amount) FROM sales WHERE dt = :biz_date}}]"
    rewrite(started, "period: day\n", f"period: day\n{rule}\n", "dws/amounts.yaml")
    assert warehouse_at(started).entities["amounts"].rule_inputs == frozenset()


@pytest.mark.spark
def test_a_type_that_delta_refuses_is_said_before_a_run_meets_it(root: Path) -> None:
    amounts = pa.table(
        {"region": ["eu"], "amount": pa.array([Decimal("1.00")], pa.decimal128(20, 2)), "dt": [date(2026, 3, 23)]}
    )
    sales = pa.table({"id": [1], "region": ["eu"], "amount": pa.array([Decimal("1.00")], pa.decimal128(10, 2))})
    sales = sales.append_column("twice", sales["amount"]).append_column("dt", amounts["dt"])
    for name, rows in {"amounts": amounts, "sales": sales}.items():
        write_deltalake(root / "data" / "warehouse" / name, rows, partition_by=["dt"])
    compute(root)
    rewrite(root, "sum(amount)", "sum(amount * 0.9)", "dws/amounts.sql")
    told = plan(root, "amounts", "--json")
    assert told.exit_code == ExitCode.OUTDATED
    refused = json.loads(told.stdout)["broken"]["amounts"]
    assert "amount" in refused
    assert "decimal(" in refused.lower()


def test_slices_of_unknown_code_are_said(root: Path) -> None:
    compute(root, told=False)
    told = plan(root)
    assert told.exit_code == ExitCode.OK
    assert "8 slices have no recorded code" in told.output


def test_an_unknown_entity_is_a_clear_answer(root: Path) -> None:
    told = plan(root, "sale")
    assert told.exit_code == ExitCode.FAILED
    assert "sale" in told.output
