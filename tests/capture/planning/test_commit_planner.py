"""The planner against a slow model that looks at every record of every topic."""

from collections import Counter
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.work import calls_of
from tidemark.capture.binlog.event_minute_statistics import EventMinute
from tidemark.capture.commits.slice_end import SliceEnd
from tidemark.capture.initial_load.load_events import Missing
from tidemark.capture.planning.commit_planner import (
    CommitPlan,
    PlannedBatch,
    ReadTransaction,
    Span,
    TopicStream,
    fold_empty,
    make_plan,
)

MINUTE = 60_000
Topics = dict[str, list[int]]
"""Event times in ms per instance; the offset is the index."""


def topics() -> st.SearchStrategy[Topics]:
    """Mostly growing times, some of them late."""
    steps = st.lists(st.tuples(st.integers(0, 5), st.sampled_from([0, 0, 0, 0, 7])), max_size=25)

    def times(topics_read: list[tuple[int, int]]) -> list[int]:
        clock, result = 0, []
        for step, back in topics_read:
            clock += step
            result.append(max(0, clock - back) * MINUTE + 1)
        return result

    return st.fixed_dictionaries({"a": steps.map(times), "b": steps.map(times)})


def slice_ends_until(minute: int) -> list[SliceEnd]:
    """A finer and a coarser entity, like hours and days."""
    ends = [("fine", end) for end in range(10, minute + 20, 10)] + [
        ("coarse", end) for end in range(30, minute + 60, 30)
    ]
    return [SliceEnd(end * MINUTE, entity, "p", f"{entity}-{end}") for entity, end in ends]


@dataclass
class PlanReader:
    """What a table's ingestion remembers between steps, and what it did."""

    topics: Topics
    position: dict[str, int] = field(default_factory=lambda: {"a": 0, "b": 0})
    tagged: list[SliceEnd] = field(default_factory=list)
    snapshots: dict[str, set[tuple[str, int]]] = field(default_factory=dict)
    late: set[tuple[str, int]] = field(default_factory=set)
    reads: Counter[tuple[str, int]] = field(default_factory=Counter)

    def step(self, ends: dict[str, int]) -> CommitPlan:
        streams = [self._stream(instance, end) for instance, end in ends.items()]
        last = max([time for times in self.topics.values() for time in times], default=0) // MINUTE
        still_open = [slice_end for slice_end in slice_ends_until(last) if slice_end not in self.tagged]
        plan = make_plan(streams, still_open, max((snapshot.end_ms for snapshot in self.tagged), default=None))
        for batch in plan.batches:
            self._apply(batch)
        return plan

    def _stream(self, instance: str, end: int) -> TopicStream:
        times = self.topics[instance]
        first = self.position[instance]
        marks = [
            EventMinute(time // MINUTE * MINUTE, offset, time)
            for offset, time in enumerate(times[:end])
            if offset >= first
        ]
        return TopicStream(instance, first, end, marks, max(times[:first], default=None))

    def _apply(self, batch: PlannedBatch) -> None:
        for instance, span in batch.spans.items():
            assert span.start == self.position[instance]
            for offset in range(span.start, span.end):
                self.reads[instance, offset] += 1
                if batch.late_before is not None and self.topics[instance][offset] < batch.late_before:
                    self.late.add((instance, offset))
            self.position[instance] = span.end
        for slice_end in batch.closes:
            self.snapshots[slice_end.slice] = set(self.reads)
        self.tagged += batch.closes


def model_cut(times: list[int], end_ms: int) -> int | None:
    return next((offset for offset, time in enumerate(times) if time >= end_ms), None)


def model_snapshot(topics_read: Topics, end_ms: int) -> set[tuple[str, int]] | None:
    """Everything before the first record at or past the boundary; None when an instance has not passed it."""
    cuts = {instance: model_cut(times, end_ms) for instance, times in topics_read.items()}
    if any(cut is None for cut in cuts.values()):
        return None
    return {(instance, offset) for instance, cut in cuts.items() for offset in range(cut or 0)}


def model_late(topics_read: Topics, tagged: list[SliceEnd], reads: Counter[tuple[str, int]]) -> set[tuple[str, int]]:
    """Read records that belong to a snapshot's time but came after its cut."""
    return {
        (instance, offset)
        for instance, offset in reads
        for snapshot in tagged
        if topics_read[instance][offset] < snapshot.end_ms
        and offset >= (model_cut(topics_read[instance], snapshot.end_ms) or 0)
    }


@given(topics(), st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), max_size=6))
def test_snapshots_are_never_torn_never_early_and_each_tagged_once(
    topics_read: Topics, growth: list[tuple[int, int]]
) -> None:
    reader, ends = PlanReader(topics_read), {"a": 0, "b": 0}
    for more_a, more_b in [*growth, (99, 99)]:
        ends = {
            "a": min(len(topics_read["a"]), ends["a"] + more_a),
            "b": min(len(topics_read["b"]), ends["b"] + more_b),
        }
        reader.step(ends)
        seen = {instance: times[: ends[instance]] for instance, times in topics_read.items()}
        last = max([time for times in topics_read.values() for time in times], default=0) // MINUTE
        wanted = {slice_end.slice: model_snapshot(seen, slice_end.end_ms) for slice_end in slice_ends_until(last)}
        assert reader.snapshots == {name: content for name, content in wanted.items() if content is not None}
    assert len(reader.tagged) == len(set(reader.tagged))
    assert set(reader.reads.values()) <= {1}
    assert reader.late == model_late(topics_read, reader.tagged, reader.reads)


@given(topics())
def test_records_after_the_next_open_boundary_wait(topics_read: Topics) -> None:
    reader = PlanReader(topics_read)
    plan = reader.step({instance: len(times) for instance, times in topics_read.items()})
    first_open = min(slice_waiting.slice_end.end_ms for slice_waiting in plan.waiting)
    for instance, times in topics_read.items():
        cut = model_cut(times, first_open)
        assert reader.position[instance] == (len(times) if cut is None else cut)


@given(topics())
def test_waiting_names_exactly_the_instances_that_have_not_passed(topics_read: Topics) -> None:
    plan = PlanReader(topics_read).step({instance: len(times) for instance, times in topics_read.items()})
    for waiting in plan.waiting:
        behind = {
            instance for instance, times in topics_read.items() if model_cut(times, waiting.slice_end.end_ms) is None
        }
        assert {instance for instance, _ in waiting.blockers} == behind
        assert all(ms == max(topics_read[instance], default=None) for instance, ms in waiting.blockers)
    assert {slice_waiting.slice_end.entity for slice_waiting in plan.waiting} == {"fine", "coarse"}


def batch(start: int, end: int, *closes: str) -> PlannedBatch:
    return PlannedBatch(
        {"a": Span(start, end)}, {"a": end}, tuple(SliceEnd(end, "e", "p", name) for name in closes), None
    )


def test_a_batch_without_changes_is_tagged_by_the_commit_before_it() -> None:
    batches = [batch(0, 10, "h1"), batch(10, 20, "h2"), batch(20, 30, "h3"), batch(30, 40)]
    folded = fold_empty(batches, [True, False, True, False])
    assert [(index, [slice_end.slice for slice_end in joined.closes]) for index, joined in folded] == [
        (0, ["h1", "h2"]),
        (2, ["h3"]),
    ]
    assert [joined.spans["a"] for _, joined in folded] == [Span(0, 20), Span(20, 40)]


@pytest.mark.parametrize("count", [1, 4])
def test_empty_batches_at_the_beginning_become_one_commit(count: int) -> None:
    batches = [batch(10 * i, 10 * i + 10, f"h{i}") for i in range(count)]
    ((index, joined),) = fold_empty(batches, [False] * count)
    assert (index, joined.spans["a"]) == (0, Span(0, 10 * count))
    assert len(joined.closes) == count


@pytest.mark.slow
def test_an_event_of_another_century_is_one_commit() -> None:
    """A hundred thousand empty slices before it are tagged at the version of the one before: no batch of their own."""
    times = [1, *range(MINUTE, 5_000 * MINUTE, MINUTE), 2**32 * 1000 - 1]
    marks = [EventMinute(time // MINUTE * MINUTE, offset, time) for offset, time in enumerate(times)]
    stream = TopicStream("a", 0, len(times), marks, None)
    slice_ends = [SliceEnd(end * 10 * MINUTE, "e", "10min", str(end)) for end in range(1, 100_001)]
    plan = make_plan([stream], slice_ends, None)
    assert calls_of(lambda: make_plan([stream], slice_ends[:10_000], None)) < 40 * 10_000
    assert len(plan.batches) == 501
    assert sum(len(planned.closes) for planned in plan.batches) == 100_000
    assert plan.batches[499].spans == {"a": Span(4_990, 5_000)}


def test_slices_without_rows_are_neither_tagged_nor_settled() -> None:
    """Also where one ends and stops waiting between the same two records."""
    marks = [EventMinute(0, 0, 1), EventMinute(60 * MINUTE, 1, 60 * MINUTE)]
    stream = TopicStream("a", 0, 2, marks, None, missing=[Missing("a.t", 0, None)])
    slice_ends = [SliceEnd(10 * MINUTE, "e", "p", "x"), SliceEnd(15 * MINUTE, "e", "p", "x", 5 * MINUTE)]
    plan = make_plan([stream], slice_ends, None)
    assert [(entry.slice_end.slice, entry.shards) for entry in plan.untagged] == [("x", ("a.t",))]
    assert [(planned.closes, planned.settles) for planned in plan.batches] == [((), ())]


def torn_at(*, has_begun: bool, may_go_on: bool) -> TopicStream:
    """Records 0 to 9, a minute each; those of 4 to 6 are one transaction."""
    marks = [EventMinute(minute, minute, minute) for minute in range(10)]
    return TopicStream("a", 0, 10, marks, None, transactions=[ReadTransaction(4, 6, has_begun, may_go_on)])


def test_a_transaction_across_a_boundary_is_entirely_after_the_cut() -> None:
    stream = torn_at(has_begun=False, may_go_on=False)
    assert [stream.cut_offset(minute) for minute in (3, 4, 5, 6, 7)] == [3, 4, 4, 4, 7]


def test_one_of_which_records_were_merged_is_before_the_cut_once_it_is_read_to_its_end() -> None:
    assert [torn_at(has_begun=True, may_go_on=False).cut_offset(minute) for minute in (3, 5, 7)] == [3, 7, 7]
    waiting = torn_at(has_begun=True, may_go_on=True)
    assert waiting.cut_offset(5) is None
    assert not waiting.has_passed(5)
