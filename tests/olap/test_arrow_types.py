"""Which Arrow types are stored, and as what."""

from __future__ import annotations

import datetime as dt
from typing import get_args

import pyarrow as pa
import pytest

from tests.olap.examples import all_types
from tidemark.olap.arrow_types import INSTANT, canonical
from tidemark.olap.errors import OlapTypeError
from tidemark.olap.sql_types import OlapDialect, arrow_type, sql_type


def test_narrow_and_equal_types_are_widened() -> None:
    paris = dt.datetime(2026, 3, 29, 1, 30, tzinfo=dt.UTC)
    data = pa.table(
        {
            "tiny": pa.array([1], pa.int8()),
            "single": pa.array([0.5], pa.float32()),
            "large": pa.array(["x"], pa.large_string()),
            "millis": pa.array([paris], pa.timestamp("ms", "Europe/Paris")),
        }
    )

    stored = canonical(data)

    assert stored.schema.types == [pa.int16(), pa.float64(), pa.string(), INSTANT]
    assert stored.to_pylist() == [{"tiny": 1, "single": 0.5, "large": "x", "millis": paris}]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[1]]),
        pa.array([None], pa.null()),
        pa.array([b"x"]),
        pa.array([2**63], pa.uint64()),
        pa.array([1], pa.timestamp("ns")),
        pa.array([dt.time(1)]),
    ],
    ids=lambda column: str(column.type),
)
def test_types_that_would_change_are_refused(column: pa.Array) -> None:
    with pytest.raises(OlapTypeError, match=r"^c: an OLAP store cannot store a column without a change"):
        canonical(pa.table({"c": column}))


@pytest.mark.parametrize("dialect", get_args(OlapDialect))
def test_every_stored_type_has_its_name_and_back(dialect: OlapDialect) -> None:
    for field in all_types().schema:
        assert arrow_type("c", sql_type(field.type, dialect), dialect) == field.type


@pytest.mark.parametrize("dialect", get_args(OlapDialect))
def test_a_column_that_others_made_otherwise_is_refused(dialect: OlapDialect) -> None:
    with pytest.raises(OlapTypeError, match=f"^c: .* found INTERVAL in {dialect}"):
        arrow_type("c", "INTERVAL", dialect)
