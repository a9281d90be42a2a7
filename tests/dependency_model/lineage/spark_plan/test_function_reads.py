"""What plans made by hand read, at single business times: no Spark in here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.dependency_model.lineage.spark_plan.plans import (
    alias,
    attribute,
    equals,
    join,
    literal,
    node,
    project,
    table,
    text,
    where,
)
from tests.dependency_model.lineage.worlds import PARIS, START, SUBJECTS
from tidemark.dependency_model.lineage.entity_outline import EntityOutline, QuerySession
from tidemark.dependency_model.lineage.spark_plan.function_reads import business_times, infer_reads
from tidemark.dependency_model.lineage.spark_plan.plan_tree import read_plan, tables_named
from tidemark.dependency_model.time import Period
from tidemark.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.dependency_model.lineage.spark_plan.plans import Tree

DOWN = EntityOutline("down", Period.DAY, PARIS, START)
GRID = PARIS.grid(Period.DAY)
TIMES = business_times(DOWN)[:20]
ORDERS = table("d_orders", u=1, dt=2)
USERS = table("d_users", u=3, dt=4)
SAME_USER = node("EqualTo", attribute(1), attribute(3))


def reads(plan: Callable[[str], Tree]) -> dict[str, str]:
    plans = {time_: text(plan(GRID.key(time_))) for time_ in TIMES}
    inferred = infer_reads(plans, "f.py:1", DOWN, SUBJECTS, QuerySession("UTC"))
    return {name: str(read) for name, read in inferred.items()}


def test_a_filter_is_evaluated_at_its_own_business_time() -> None:
    assert reads(lambda day: where(ORDERS, equals(2, day))) == {"d_orders": "Set 0"}
    before = node("EqualTo", attribute(2), node("DateSub", literal("2024-05-02", "date"), literal(1, "integer")))
    assert "undecidable: no offset" in reads(lambda _: where(ORDERS, before))["d_orders"]


def test_a_filter_above_goes_through_names_and_unions_by_place() -> None:
    def plan(day: str) -> Tree:
        left = project(ORDERS, alias(10, "d", attribute(2)), attribute(1))
        return where(node("Union", left, project(USERS, attribute(4), attribute(3))), equals(10, day))

    assert reads(plan) == {"d_orders": "Set 0", "d_users": "Set 0"}


@pytest.mark.parametrize(
    ("kind", "orders", "users"),
    [
        ("Inner", True, True),
        ("LeftSemi", True, True),
        ("LeftOuter", False, True),
        ("LeftAnti", False, True),
        ("RightOuter", True, False),
        ("FullOuter", False, False),
        ("NoSuchJoin", False, False),
    ],
)
def test_conditions_of_a_join_restrict_the_sides_that_they_can_drop(kind: str, *, orders: bool, users: bool) -> None:
    def plan(day: str) -> Tree:
        both = node("And", SAME_USER, node("And", equals(2, day), equals(4, day)))
        return join(kind, ORDERS, USERS, both)

    inferred = reads(plan)
    assert {name: read == "Set 0" for name, read in inferred.items()} == {"d_orders": orders, "d_users": users}


@pytest.mark.parametrize("kind", ["Inner", "RightOuter", "FullOuter", "LeftOuter"])
def test_a_row_that_a_join_makes_up_is_not_lost(kind: str) -> None:
    """`dt = day` above drops made-up rows; `dt IS NULL OR dt = day` does not, so that all of the table is read."""

    def plan(day: str) -> Tree:
        joined = join(kind, ORDERS, where(USERS, equals(4, day)), SAME_USER)
        return where(joined, node("Or", node("IsNull", attribute(2)), equals(2, day)))

    assert (reads(plan)["d_orders"] == "Set 0") is (kind in ("Inner", "LeftOuter"))


@pytest.mark.parametrize("name", ["GlobalLimit", "Sample", "MapInPandas", "Window", "SomethingNew"])
def test_what_hides_rows_lets_no_filter_through(name: str) -> None:
    fields: dict[str, Tree] = {"windowExpressions": [], "partitionSpec": []} if name == "Window" else {}
    inferred = reads(lambda day: where(node(name, ORDERS, **fields), equals(2, day)))
    assert inferred["d_orders"].startswith("undecidable")


def test_a_window_lets_filters_on_its_keys_through() -> None:
    window = node("Window", ORDERS, windowExpressions=[], partitionSpec=[attribute(2)])
    assert reads(lambda day: where(window, equals(2, day))) == {"d_orders": "Set 0"}


def test_a_query_in_an_expression_is_read_and_one_that_is_not_shown_is_refused() -> None:
    def plan(day: str, shown: Tree | None) -> Tree:
        inner = node("ScalarSubquery", plan=shown)
        return where(where(ORDERS, equals(2, day)), node("LessThan", attribute(1), inner))

    assert reads(lambda day: plan(day, where(USERS, equals(4, day)))) == {"d_orders": "Set 0", "d_users": "Set 0"}
    with pytest.raises(ParseError, match="a query inside an expression"):
        reads(lambda day: plan(day, None))


def test_an_input_in_a_place_that_is_not_known_is_refused() -> None:
    with pytest.raises(ParseError, match=r"a place that is not known.*d_users"):
        reads(lambda day: [{**where(ORDERS, equals(2, day))[0], "hidden": USERS}, *where(ORDERS, equals(2, day))[1:]])


def test_an_input_that_only_some_business_times_read_has_no_offset() -> None:
    odd = {GRID.key(time_) for time_ in TIMES[::2]}
    inferred = reads(lambda day: where(ORDERS, equals(2, day)) if day in odd else node("Range"))
    assert inferred["d_orders"].startswith("undecidable: no offset")


@pytest.mark.parametrize("wrong", ["", "[]", "{}", "[1]", '[{"class": "A", "num-children": 1}]', "[[]]"])
def test_what_is_no_plan_is_refused(wrong: str) -> None:
    with pytest.raises(ParseError):
        read_plan(wrong)


def test_the_inputs_that_a_plan_names() -> None:
    assert tables_named(text(join("Inner", ORDERS, USERS, SAME_USER))) == {"d_orders", "d_users"}
