"""Layouts from the log: depth against a slow count, files that a filter reads, and what clustering would give."""

import numpy as np
import pyarrow as pa
import pytest
from deltalake import write_deltalake
from hypothesis import given
from hypothesis import strategies as st

from tidemark.delta.clustering.errors import ClusterColumnError
from tidemark.delta.clustering.layout import Between, depths_at, files_read, layout_of
from tidemark.delta.open_table import delta_rs_options
from tidemark.system.table_location import TableLocation

SPANS = st.lists(
    st.tuples(st.integers(0, 20), st.integers(0, 9)).map(lambda span: (span[0], sum(span))),
    min_size=1,
)


@given(SPANS)
def test_depth_is_how_many_spans_hold_a_value(spans: list[tuple[int, int]]) -> None:
    lows, highs = np.array([low for low, _ in spans]), np.array([high for _, high in spans])
    ends = [*lows.tolist(), *highs.tolist()]
    assert depths_at(lows, highs).tolist() == [sum(low <= end <= high for low, high in spans) for end in ends]


def table(path: TableLocation) -> TableLocation:
    """Four files: `a` is sorted over them, `b` is the same in each, `c` is NULL in one."""
    for number in range(4):
        rows = {"a": [10 * number, 10 * number + 9], "b": [0, 99], "c": ["x", "y"] if number else [None, None]}
        arrays = {name: pa.array(values, pa.string() if name == "c" else pa.int64()) for name, values in rows.items()}
        write_deltalake(str(path), pa.table(arrays), mode="append", storage_options=delta_rs_options(path))
    return path


def test_layout_of_a_table(lake: TableLocation) -> None:
    layout = layout_of(table(lake))
    assert (layout.files, layout.version) == (4, 3)
    depths = {column.column: (column.depth, column.deepest, column.bounded) for column in layout.columns}
    assert depths == {"a": (1.0, 1, 4), "b": (4.0, 4, 4), "c": (3.0, 3, 3)}


def test_files_that_a_filter_reads(lake: TableLocation) -> None:
    path = table(lake)
    assert files_read(path, [Between("a", "15", "15")])[0] == 1
    assert files_read(path, [Between("a", "15", "25"), Between("b", "50", "50")])[0] == 2
    # A file without bounds may hold anything.
    assert files_read(path, [Between("c", "z", "z")])[0] == 1


def test_an_unknown_column_is_named(lake: TableLocation) -> None:
    with pytest.raises(ClusterColumnError, match="found nope"):
        layout_of(table(lake), ["nope"])
