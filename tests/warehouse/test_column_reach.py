"""A change of a column goes along the dependencies that use it, and along all of which nothing is known."""

from __future__ import annotations

import pytest

from tests.dependency_model.world import graph
from tidemark.errors import UnknownEntityError
from tidemark.warehouse.column_graph import ColumnGraph, EntityColumns
from tidemark.warehouse.column_reach import dependencies_reached

WORLD = graph(
    orders="{period: day}",
    paid="{period: day, depends_on: [orders]}",
    users="{period: day, depends_on: [orders]}",
    script="{period: day, depends_on: [users]}",
    gmv="{period: day, depends_on: [paid]}",
)
COLUMNS = ColumnGraph(
    {
        "paid": EntityColumns({"net": ("orders.amount",), "user": ("orders.user_id",)}, ("orders.status",)),
        "users": EntityColumns({"user": ("orders.user_id",)}, ()),
        "gmv": EntityColumns({"gmv": ("paid.net",)}, ()),
    },
    {},
)


@pytest.mark.parametrize(
    ("column", "reached"),
    [
        ("amount", {("orders", "paid"), ("paid", "gmv")}),
        ("user_id", {("orders", "paid"), ("orders", "users"), ("users", "script")}),
        ("status", {("orders", "paid"), ("paid", "gmv")}),
    ],
)
def test_only_readers_of_the_column_are_reached(column: str, reached: set[tuple[str, str]]) -> None:
    assert dependencies_reached(WORLD, COLUMNS, "orders", column) == reached


def test_a_column_that_there_is_not_is_refused() -> None:
    with pytest.raises(UnknownEntityError) as refused:
        dependencies_reached(WORLD, COLUMNS, "orders", "amont")
    assert refused.value.hint == "did you mean 'amount'?"
