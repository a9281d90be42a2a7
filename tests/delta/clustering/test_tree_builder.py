"""Trees: files of equal size, frequent values alone, and fewer files for filters than interleaved ranks give."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.delta.clustering.worlds import ROWS, constant, worlds
from tidemark.delta.clustering.column_ranks import Positions, rank_column
from tidemark.delta.clustering.split_tree import Leaf, Node, Split, assign_files, file_count, leaves
from tidemark.delta.clustering.tree_builder import build_tree

FILES = 32
NAMES = list(worlds(0))


def cluster_by_tree(columns: Sequence[Positions], files: int = FILES) -> tuple[Node, Positions]:
    positions = [rank_column("k", pa.array(column))[1] for column in columns]
    tree = build_tree(positions, [1.0] * len(columns), files)
    return tree, assign_files(tree, positions, np.arange(len(columns[0])))


def interleave(columns: Sequence[Positions], chance: np.random.Generator) -> Positions:
    """Z-order of ranks in 1,000 ranges, with noise, cut into files of equal size."""
    curve = np.zeros(ROWS, dtype=np.int64)
    ranges = [np.searchsorted(np.unique(np.quantile(column, np.linspace(0, 1, 1001))), column) for column in columns]
    for bit in range(9, -1, -1):
        for range_ in ranges:
            curve = (curve << 1) | ((range_ >> bit) & 1)
    curve = (curve << 8) | chance.integers(0, 256, ROWS)
    file_of = np.empty(ROWS, dtype=np.int64)
    file_of[np.argsort(curve, kind="stable")] = np.arange(ROWS) * FILES // ROWS
    return file_of


def files_read(columns: Sequence[Positions], file_of: Positions, chance: np.random.Generator) -> float:
    """Files that a filter on one value of one column reads, on average."""
    bounds = [
        [(column[file_of == at].min(), column[file_of == at].max()) for at in np.unique(file_of)] for column in columns
    ]
    points = [chance.choice(np.unique(column), 200) for column in columns]
    held = [
        sum(low <= point <= high for low, high in own)
        for own, some in zip(bounds, points, strict=True)
        for point in some
    ]
    return float(np.mean(held))


@pytest.mark.parametrize("name", NAMES)
def test_filters_read_fewer_files_than_interleaved_ranks(name: str) -> None:
    columns, chance = worlds(11)[name], np.random.default_rng(5)
    own = files_read(columns, cluster_by_tree(columns)[1], np.random.default_rng(7))
    theirs = files_read(columns, interleave(columns, chance), np.random.default_rng(7))
    # Where one column follows the other both find nearly all that there is to find.
    assert own < theirs * (1.02 if name == "correlated" else 1.0)


@pytest.mark.parametrize("name", NAMES)
def test_files_are_about_equal(name: str) -> None:
    tree, file_of = cluster_by_tree(worlds(3)[name])
    sizes = np.bincount(file_of, minlength=file_count(tree))
    assert 0.7 * FILES <= len(sizes) <= 1.3 * FILES
    assert sizes.max() <= 1.6 * ROWS / FILES


def test_a_frequent_value_is_alone_and_split_by_the_other_column() -> None:
    first, second = worlds(4)["one value"]
    _, file_of = cluster_by_tree([first, second])
    holding = np.unique(file_of[first == 500])
    assert set(np.unique(first[np.isin(file_of, holding)])) == {500}
    spread = [np.ptp(second[file_of == at]) for at in holding]
    assert np.mean(spread) < 2 * 10**6 / len(holding)


def test_rows_that_nothing_tells_apart_are_spread_evenly() -> None:
    tree, file_of = cluster_by_tree(constant(np.random.default_rng(1)), 12)
    assert sorted(leaf.width for leaf in leaves(tree)) == [4, 4, 4]
    assert np.bincount(file_of).max() <= 1.05 * ROWS / 12


def test_weights_shift_the_budget() -> None:
    positions = [rank_column("k", pa.array(column))[1] for column in worlds(5)["uniform"]]
    read = []
    for weights in ([1.0, 1.0], [16.0, 1.0]):
        file_of = assign_files(build_tree(positions, weights, 64), positions, np.arange(ROWS))
        read.append(files_read([positions[0]], file_of, np.random.default_rng(2)))
    assert read[1] < 0.5 * read[0]


def by_descent(node: Node, row: Sequence[int], number: int) -> int:
    """One row, one comparison at a time."""
    if isinstance(node, Leaf):
        return node.first + number % node.width
    child = sum(row[node.column] >= bound for bound in node.bounds)
    return by_descent(node.children[child], row, number)


SMALL = hnp.arrays(np.int64, st.tuples(st.integers(1, 3), st.integers(1, 60)), elements=st.integers(0, 12))


@settings(deadline=None)
@given(SMALL, st.integers(1, 40))
def test_any_sample_grows_a_tree(columns: Positions, files: int) -> None:
    positions = [rank_column("k", pa.array(column))[1] for column in columns]
    tree = build_tree(positions, [1.0] * len(positions), files)
    file_numbers = assign_files(tree, positions, np.arange(columns.shape[1]))
    rows = zip(*(position.tolist() for position in positions), strict=True)
    assert file_numbers.tolist() == [by_descent(tree, row, number) for number, row in enumerate(rows)]
    numbers = [number for leaf in leaves(tree) for number in range(leaf.first, leaf.first + leaf.width)]
    assert numbers == list(range(file_count(tree)))
    assert all(node.bounds == tuple(sorted(set(node.bounds))) for node in splits(tree))


def splits(node: Node) -> list[Split]:
    return [] if isinstance(node, Leaf) else [node, *(split for child in node.children for split in splits(child))]


def test_an_empty_sample_is_spread() -> None:
    assert build_tree([np.empty(0, dtype=np.int64)], [1.0], 5) == Leaf(0, 5)
    with pytest.raises(ValueError, match="at least one file"):
        build_tree([], [], 5)
