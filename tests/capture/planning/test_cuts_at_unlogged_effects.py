"""A place at which rows change without row events is a batch of its own; everything else is as before."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from tidemark.capture.commits.slice_end import SliceEnd
from tidemark.capture.planning.commit_planner import PlannedBatch, Span
from tidemark.capture.planning.cuts_at_unlogged_effects import cut_at

END = SliceEnd(100, "ods_orders", "day", "2026-03-23")
BATCHES = (
    PlannedBatch({"a": Span(0, 10), "b": Span(0, 7)}, {"a": 99, "b": 98}, (END,), None),
    PlannedBatch({"a": Span(10, 20), "b": Span(7, 7)}, {"a": 150, "b": 98}, (), 100),
)


def test_the_last_part_closes_the_same_slices_as_the_whole() -> None:
    parts = cut_at(BATCHES, [("a", 4)])
    assert [part.spans["a"] for part in parts] == [Span(0, 4), Span(4, 5), Span(5, 10), Span(10, 20)]
    assert [part.spans["b"] for part in parts] == [Span(0, 0), Span(0, 0), Span(0, 7), Span(7, 7)]
    assert [part.closes for part in parts] == [(), (), (END,), ()]
    assert [part.watermarks for part in parts] == [{}, {}, {"a": 99, "b": 98}, {"a": 150, "b": 98}]


def test_a_place_at_a_batchs_first_or_last_record_makes_no_batch_before_it() -> None:
    assert [part.spans["a"] for part in cut_at(BATCHES, [("a", 0)])][:2] == [Span(0, 1), Span(1, 10)]
    parts = cut_at(BATCHES, [("a", 9)])
    assert [part.spans["a"] for part in parts] == [Span(0, 9), Span(9, 10), Span(10, 10), Span(10, 20)]
    assert parts[2].closes == (END,)


def test_a_place_outside_of_the_batches_cuts_nothing() -> None:
    assert cut_at(BATCHES, [("a", 20), ("b", 7), ("c", 1)]) == list(BATCHES)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 25)), max_size=8))
def test_every_record_is_in_one_batch_and_the_order_stays(places: list[tuple[str, int]]) -> None:
    parts = cut_at(BATCHES, places)
    for instance, end in (("a", 20), ("b", 7)):
        spans = [part.spans[instance] for part in parts]
        assert [offset for span in spans for offset in range(span.start, span.end)] == list(range(end))
        assert all(before.end == after.start for before, after in itertools.pairwise(spans))
    for instance, offset in places:
        alone = [part for part in parts if offset in part.spans.get(instance, Span(0, 0))]
        assert all(part.spans[instance] == Span(offset, offset + 1) for part in alone)
