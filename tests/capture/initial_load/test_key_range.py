"""A range of keys is read strictly, and is one condition for the source and for the lake."""

from __future__ import annotations

import json

import pytest

from tidemark.capture.initial_load.errors import KeyRangeError
from tidemark.capture.initial_load.key_range import KeyRange, is_integer
from tidemark.capture.initial_load.signal_table import requests


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("1000..1999", "`order_id` >= 1000 AND `order_id` <= 1999"),
        ("7..7", "`order_id` >= 7 AND `order_id` <= 7"),
        ("-5..", "`order_id` >= -5"),
        ("..1999", "`order_id` <= 1999"),
    ],
)
def test_bounds_are_with_the_range_and_one_may_be_left_out(text: str, condition: str) -> None:
    assert KeyRange.parse(text, "order_id").condition == condition


@pytest.mark.parametrize("text", ["..", "", "7", "a..b", "9..1", "1...2", "1..2 OR 1=1", "1.5..2"])
def test_an_invalid_range_is_refused(text: str) -> None:
    with pytest.raises(KeyRangeError, match="this is not a range of keys"):
        KeyRange.parse(text, "order_id")


def test_only_whole_numbers_have_one_order_on_both_sides() -> None:
    assert all(map(is_integer, ("bigint(20)", "INT(11) unsigned", "tinyint(4)", "mediumint(9)")))
    assert not any(map(is_integer, ("varchar(64)", "decimal(10,2)", "date", "point", "interval")))


def test_the_connector_is_asked_for_the_range_alone() -> None:
    (data,) = requests(["school.orders_0"], KeyRange.parse("1..9", "order_id").condition)
    assert json.loads(data) == {
        "data-collections": ["school.orders_0"],
        "type": "INCREMENTAL",
        "additional-conditions": [
            {"data-collection": "school.orders_0", "filter": "`order_id` >= 1 AND `order_id` <= 9"}
        ],
    }


def test_many_tables_with_conditions_fit_the_column_too() -> None:
    tables = [f"school.orders_{number}" for number in range(99)]
    made = requests(tables, "`order_id` >= 1")
    assert max(map(len, made)) <= 2048
    assert [name for text in made for name in json.loads(text)["data-collections"]] == tables
