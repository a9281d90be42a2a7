"""The checksum tells tables of different content apart, and no others."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tests.olap.examples import all_types
from tidemark.olap.publishing import content_checksum

_CELL = st.none() | st.text(st.sampled_from("ab:-0123|\\N"), max_size=4)
_ROWS = st.lists(st.tuples(_CELL, _CELL), max_size=6)


def _table(rows: list[tuple[str | None, str | None]]) -> pa.Table:
    return pa.table(
        {"x": pa.array([x for x, _ in rows], pa.string()), "y": pa.array([y for _, y in rows], pa.string())}
    )


@given(_ROWS, _ROWS)
def test_equal_exactly_when_the_rows_are_the_same_in_some_order(
    left: list[tuple[str | None, str | None]], right: list[tuple[str | None, str | None]]
) -> None:
    same = sorted(left, key=repr) == sorted(right, key=repr)
    assert (content_checksum(_table(left)) == content_checksum(_table(right))) is same


@given(st.permutations(range(3)))
def test_the_order_of_rows_does_not_matter(order: list[int]) -> None:
    data = all_types()
    assert content_checksum(data.take(order)) == content_checksum(data)


def test_a_row_twice_is_not_a_row_once_nor_none() -> None:
    once = all_types().slice(0, 1)
    sums = {content_checksum(table) for table in (once.slice(0, 0), once, pa.concat_tables([once, once]))}
    assert len(sums) == 3


def test_the_value_is_fixed_for_ever() -> None:
    """Stored checksums are compared with later ones: the algorithm must not drift."""
    assert content_checksum(all_types().slice(0, 0)) == "0" * 32
    assert content_checksum(pa.table({"a": [1], "b": ["x"]})) == "26abdffec54c38f02e3d859eeaf660c5"
