"""Which clustered files are clustered again with new ones: against a slow count, and by example."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.types import DataType, DateType, DoubleType, LongType, StringType, TimestampType

from tidemark.delta.clustering.clusterable_columns import ClusterColumn
from tidemark.delta.clustering.file_groups import CLUSTERED, files_to_cluster
from tidemark.delta.clustering.files_to_recluster import FileKeyRanges, Span, spans_of
from tidemark.delta.live_file import LiveFile

SPAN = st.none() | st.tuples(st.integers(0, 12), st.integers(0, 6)).map(
    lambda low_high: (low_high[0], low_high[0] + low_high[1])
)
FILE = st.tuples(st.integers(1, 50), st.tuples(SPAN, SPAN), st.booleans())
FILES = st.lists(FILE, min_size=2, max_size=14)


def ends_within(span: Span | None, ends: Sequence[float | str]) -> set[float | str]:
    """The ends that a span holds, one by one."""
    return {end for end in ends if span is None or span[0] <= end <= span[1]}  # type: ignore[operator]


def slowly_inside(sizes: Sequence[int], spans: Sequence[Sequence[Span | None]], chosen: list[int], other: int) -> float:
    total = 0.0
    for at in chosen:
        part = 1.0
        for own in spans:
            ends = sorted({end for span in own if span for end in span}) or [0]
            part *= len(ends_within(own[at], ends) & ends_within(own[other], ends)) / len(ends_within(own[at], ends))
        total += sizes[at] * part
    return total


@given(FILES, st.sampled_from([0.5, 2.0, 4.0]))
def test_as_a_slow_count_says(files: list[tuple[int, tuple[Span | None, Span | None], bool]], ratio: float) -> None:
    sizes = [size for size, _, _ in files]
    spans = [[own[key] for _, own, _ in files] for key in (0, 1)]
    chosen_files = [at for at, (_, _, is_new) in enumerate(files) if is_new]
    others = [at for at, (_, _, is_new) in enumerate(files) if not is_new]
    ranges = FileKeyRanges.of(sizes, spans)
    slow = {other: slowly_inside(sizes, spans, chosen_files, other) for other in others}
    assert ranges.bytes_inside(chosen_files, others).tolist() == pytest.approx(list(slow.values()))
    inside = ranges.badly_overlapped(chosen_files, others, ratio)
    assert set(inside) <= {other for other in others if sizes[other] <= ratio * slow[other] * (1 + 1e-9)}
    # Never more than so many times the new bytes, and nothing worse is left out than what was taken.
    budget = ratio * sum(sizes[at] for at in chosen_files)
    assert sum(sizes[at] for at in inside) <= budget
    badness = {other: slow[other] / sizes[other] for other in others}
    left = [other for other in others if other not in inside and sizes[other] < ratio * slow[other] * (1 - 1e-9)]
    for other in left:
        worse = [name for name in others if badness[name] >= badness[other] * (1 - 1e-9)]
        assert sum(sizes[name] for name in worse) > budget


def test_many_files_are_sampled() -> None:
    ranges = FileKeyRanges.of([1] * 5_000 + [100, 100], [[(0, 9)] * 5_000 + [(0, 9), (10, 19)]])
    assert ranges.bytes_inside(range(5_000), [5_000, 5_001]).tolist() == [5_000, 0]


KEYS = (ClusterColumn("user", "user", LongType(), 1.0), ClusterColumn("day", "day", LongType(), 1.0))
TARGET = 100


def file(name: str, user: tuple[int, int], day: tuple[int, int], of: str | None = None, size: int = TARGET) -> LiveFile:
    bounds = {"minValues": {"user": user[0], "day": day[0]}, "maxValues": {"user": user[1], "day": day[1]}}
    told = {"path": name, "size": size, "partitionValues": {}, "stats": json.dumps({"numRecords": 9, **bounds})}
    return LiveFile({**told, "tags": {CLUSTERED: f"spec#{of}"}} if of else told)


def grid(of: str, side: int = 8) -> list[LiveFile]:
    return [
        file(f"{of}.{user}.{day}", (10 * user, 10 * user + 9), (10 * day, 10 * day + 9), of)
        for user in range(side)
        for day in range(side)
    ]


def chosen_files(*files: LiveFile) -> set[str]:
    return {file.name for file in files_to_cluster(files, "spec", KEYS, TARGET)}


def test_rows_spread_over_a_large_table_leave_it_alone() -> None:
    assert chosen_files(*grid("a"), file("new", (0, 79), (0, 79))) == {"new"}


def test_rows_of_one_place_take_the_files_that_lie_there() -> None:
    new = [file(f"new{number}", (40, 48), (30, 39)) for number in range(2)]
    assert chosen_files(*grid("a"), *new) == {"new0", "new1", "a.4.3"}


def test_a_pass_elsewhere_is_left_alone_unless_its_files_are_small() -> None:
    elsewhere = [file("b", (0, 9), (90, 99), "b"), file("c", (0, 9), (80, 89), "c", TARGET // 4)]
    assert chosen_files(*elsewhere, file("new", (0, 9), (100, 109))) == {"c", "new"}


def test_a_pass_that_is_small_compared_with_the_new_rows_joins_them() -> None:
    assert chosen_files(*grid("a"), *grid("b", 1), file("new", (0, 9), (0, 9))) == {"new", "b.0.0", "a.0.0"}


def test_without_new_rows_nothing_is_done() -> None:
    assert chosen_files(*grid("a"), *grid("b")) == set()


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        (StringType(), '"a"', '"b"'),
        (DateType(), '"0001-01-01"', '"2026-03-29"'),
        (TimestampType(), '"2026-03-29T01:00:00+02:00"', '"2026-03-29T00:30:00.5Z"'),
        (DoubleType(), '"-Infinity"', "1e3"),
        (DoubleType(), "1e3", '"NaN"'),
    ],
)
def test_bounds_of_every_type_have_their_order(kind: DataType, low: str, high: str) -> None:
    text = f'{{"minValues": {{"k": {low}}}, "maxValues": {{"k": {high}}}}}'
    (span,) = spans_of([LiveFile({"path": "p", "stats": text})], ClusterColumn("key", "k", kind, 1.0))
    assert span is not None
    assert span[0] < span[1]  # type: ignore[operator]


@pytest.mark.parametrize("text", ["{}", '{"minValues": {"k": "+10000-01-01"}, "maxValues": {"k": "+10001-01-01"}}'])
def test_a_file_without_bounds_may_hold_anything(text: str) -> None:
    column = ClusterColumn("key", "k", DateType(), 1.0)
    assert spans_of([LiveFile({"path": "p", "stats": text})], column) == [None]
    assert FileKeyRanges.of([5, 5], [[None, ("a", "b")]]).bytes_inside([1], [0]).tolist() == [5]
