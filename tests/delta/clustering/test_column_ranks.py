"""Positions are the values' order, whatever the type: NULL first, NaN last, -0.0 the same as 0.0."""

import datetime as dt
import math

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import each
from tidemark.delta.clustering.column_ranks import rank_column

TYPES = {
    "integers": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "doubles": (pa.float64(), st.floats()),
    "decimals": (pa.decimal128(38, 2), st.decimals(-(10**30), 10**30, places=2)),
    "texts": (
        pa.string(),
        st.text(st.characters(codec="utf-8"), max_size=4).map(lambda text: "a long beginning " + text),
    ),
    "dates": (pa.date32(), st.dates()),
    "instants": (pa.timestamp("us", tz="UTC"), st.datetimes(timezones=st.just(dt.UTC))),
}


def rank(value: object) -> tuple[int, object]:
    """Spark's order, as Python sorts."""
    if value is None:
        return 0, 0
    if isinstance(value, float) and math.isnan(value):
        return 2, 0
    return 1, value.encode() if isinstance(value, str) else value


@pytest.mark.parametrize("name", each(2, TYPES))
@settings(deadline=None)
@given(data=st.data())
def test_positions_are_in_order(name: str, data: st.DataObject) -> None:
    kind, values = TYPES[name]
    sample = data.draw(st.lists(st.none() | values, max_size=20))
    others = data.draw(st.lists(st.none() | values, max_size=20))
    key, own = rank_column("k", pa.array(sample, kind))
    column = pa.chunked_array([pa.array(sample, kind), pa.array(others, kind)])
    positions = key.positions(column).tolist()
    assert positions[: len(sample)] == own.tolist()
    every = [*sample, *others]
    for value, at in zip(every, positions, strict=True):
        for other, there in zip(every, positions, strict=True):
            if rank(value) < rank(other):
                assert at <= there
            if rank(value) == rank(other):
                assert at == there


def test_a_value_that_the_sample_lacks_lies_between() -> None:
    key, _ = rank_column("k", pa.array([10, 20, None]))
    assert key.positions(pa.array([None, 5, 10, 15, 20, 25])).tolist() == [0, 1, 2, 3, 4, 5]
    assert [key.value_of(bound) for bound in (1, 2, 3, 4)] == [None, pa.scalar(10), pa.scalar(10), pa.scalar(20)]


def test_zeros_and_not_a_number() -> None:
    key, own = rank_column("k", pa.array([0.0, -0.0, math.nan, math.inf, None]))
    assert own.tolist() == [2, 2, 6, 4, 0]
    assert key.positions(pa.array([math.nan, 1.0, 0.0], pa.float64())).tolist() == [6, 3, 2]
