"""Cuts a table's changes into commits, so that a commit is exactly the state at a boundary (B2). No Spark.

An instance's topic is one ordered binlog. It has *passed* boundary B with its first record whose event time is at or
after B. Every record before that one belongs to the state at B, and every later one does not. A later record with an
older event time is *late*. A boundary closes when every instance with shards of the table has passed it. Records after
an open boundary wait. So a snapshot depends on the topics alone, never on how they were cut into files, batches or
restarts.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, groupby
from operator import attrgetter, itemgetter
from typing import Final, NamedTuple

from tidemark.capture.binlog.event_minute_statistics import EventMinute
from tidemark.capture.commits.slice_end import SliceEnd
from tidemark.capture.initial_load.load_events import Missing

_FIRST: Final = itemgetter(0)


class ReadTransaction(NamedTuple):
    """A transaction that covers more than one minute, at offsets `first` to `last`.

    `has_begun`: an earlier pass merged some of its records. `may_go_on`: it ends the records that were read.
    """

    first: int
    last: int
    has_begun: bool
    may_go_on: bool


@dataclass(frozen=True)
class TopicStream:
    """The readable part of one instance's topic: offsets in `[next_offset, end_offset)`.

    `marks` describe these records, or earlier ones too, in any order. `merged_ms` is the newest event time before
    `next_offset`, None if there is none. Boundaries lie on whole minutes, as in every calendar. Marks from offset
    `sure_until` on are not confirmed yet (trusted_times): records there wait, but close no boundary. While rows are
    `missing`, the state is incomplete and is not tagged.
    """

    instance: str
    next_offset: int
    end_offset: int
    marks: Sequence[EventMinute]
    merged_ms: int | None
    sure_until: int | None = None
    missing: Sequence[Missing] = ()
    transactions: Sequence[ReadTransaction] = ()

    def has_passed(self, end_ms: int) -> bool:
        """Whether a confirmed record is at or after the boundary."""
        cut = self.cut_offset(end_ms)
        return cut is not None and (self.sure_until is None or cut < self.sure_until)

    def cut_offset(self, end_ms: int) -> int | None:
        """The offset of the first record at or after the boundary; None if there is none yet.

        A transaction is not split. All of it is after the cut, because it was committed after the boundary. If an
        earlier pass merged some of its records, all of it is before the cut instead.
        """
        at = bisect_left(self._by_minute, end_ms, key=_FIRST)
        return self._whole(self._by_minute[at][1]) if at < len(self._by_minute) else None

    def _whole(self, first: int) -> int | None:
        torn = next(
            (transaction for transaction in self.transactions if transaction.first <= first <= transaction.last), None
        )
        if torn is None:
            return first
        if not torn.has_begun:
            return torn.first
        return None if torn.may_go_on else torn.last + 1

    def lacking(self, end_ms: int) -> list[str]:
        """The shards with missing rows in the state at a boundary that the stream has passed."""
        cut = self.cut_offset(end_ms)
        return [gap.shard for gap in self.missing if cut is not None and gap.holds(cut)]

    def watermark(self, end_offset: int) -> int | None:
        """The newest event time before `end_offset`."""
        before = bisect_left(self._by_offset, end_offset, key=_FIRST)
        times = [] if before == 0 else [self._by_offset[before - 1][1]]
        return max([*times, *([] if self.merged_ms is None else [self.merged_ms])], default=None)

    @cached_property
    def _by_minute(self) -> list[tuple[int, int]]:
        """Each mark's minute with the first offset at or after it.

        It is cached, as a plan tests thousands of boundaries.
        """
        marks = sorted(self.marks, key=attrgetter("minute"), reverse=True)
        firsts = accumulate((mark.first_offset for mark in marks), min)
        return [(mark.minute, first) for mark, first in zip(marks, firsts, strict=True)][::-1]

    @cached_property
    def _by_offset(self) -> list[tuple[int, int]]:
        """Each mark's first offset with the newest event time up to it."""
        marks = sorted(self.marks, key=attrgetter("first_offset"))
        newest = accumulate((mark.newest_ms for mark in marks), max)
        return [(mark.first_offset, until) for mark, until in zip(marks, newest, strict=True)]


@dataclass(frozen=True)
class Span:
    """Offsets `[start, end)` of one instance's topic."""

    start: int
    end: int

    def __contains__(self, offset: int) -> bool:
        return self.start <= offset < self.end


@dataclass(frozen=True)
class PlannedBatch:
    """A future commit of everything in `spans`. It tags `closes`, and completes the late changes of `settles`.

    A record in it with an event time before `late_before` is late: a snapshot of its time is tagged already.
    `watermarks` are the newest event times (epoch ms) of each instance up to the batch's end, of any table.
    """

    spans: Mapping[str, Span]
    watermarks: Mapping[str, int]
    closes: tuple[SliceEnd, ...]
    late_before: int | None
    settles: tuple[SliceEnd, ...] = ()


@dataclass(frozen=True)
class OpenSliceEnd:
    """The next boundary of an entity, and the instances that have not passed it, with their watermarks."""

    slice_end: SliceEnd
    blockers: tuple[tuple[str, int | None], ...]


@dataclass(frozen=True)
class UntaggedSliceEnd:
    """A boundary that gets no tag, because rows of these shards were not loaded when it passed."""

    slice_end: SliceEnd
    shards: tuple[str, ...]


@dataclass(frozen=True)
class CommitPlan:
    """The batches in order, the boundaries that wait, and the boundaries that are never tagged."""

    batches: tuple[PlannedBatch, ...]
    waiting: tuple[OpenSliceEnd, ...]
    untagged: tuple[UntaggedSliceEnd, ...] = ()


def make_plan(streams: Sequence[TopicStream], slice_ends: Iterable[SliceEnd], tagged_until: int | None) -> CommitPlan:
    """Cut the readable records at every boundary that closes; the last batch ends at the first open boundary.

    `slice_ends` are the table's open slice ends as far as the streams reach, and one more of each entity.
    `tagged_until` is the end of the newest tagged slice. Streams are also cut where a slice stops waiting for late
    changes, so that the set of late changes depends on the topics alone.
    """
    position = {stream.instance: stream.next_offset for stream in streams}
    batches: list[PlannedBatch] = []
    untagged: list[UntaggedSliceEnd] = []
    by_end = [(end, tuple(group)) for end, group in groupby(sorted(slice_ends), key=lambda slice_end: slice_end.end_ms)]
    closing = [(end, group) for end, group in by_end if all(stream.has_passed(end) for stream in streams)]
    never: set[tuple[str, str, str]] = set()
    for end, group in _cut_alike(streams, closing):
        closes = tuple(slice_end for slice_end in group if not slice_end.late_ms)
        shards = tuple(shard for stream in streams for shard in stream.lacking(end))
        if shards:
            untagged += [UntaggedSliceEnd(slice_end, shards) for slice_end in closes]
            never.update(slice_end.of_slice for slice_end in closes)
            closes = ()
        settles = tuple(slice_end for slice_end in group if slice_end.late_ms and slice_end.of_slice not in never)
        if not closes and not settles:
            continue
        batches.append(replace(_batch(streams, position, end, tagged_until), closes=closes, settles=settles))
        position = {instance: span.end for instance, span in batches[-1].spans.items()}
        tagged_until = closes[-1].end_ms if closes else tagged_until
    waiting = by_end[len(closing) :]
    tail = _batch(streams, position, waiting[0][0] if waiting else None, tagged_until)
    if any(span.end > span.start for span in tail.spans.values()):
        batches.append(tail)
    waits = [slice_end for _, group in waiting for slice_end in group if not slice_end.late_ms]
    return CommitPlan(tuple(batches), _first_of_each(waits, streams), tuple(untagged))


def _cut_alike(
    streams: Sequence[TopicStream], closing: Sequence[tuple[int, tuple[SliceEnd, ...]]]
) -> Iterator[tuple[int, tuple[SliceEnd, ...]]]:
    """Joins boundaries without a record between them, as in a quiet night, or the years up to a wrong clock's time."""
    for _, alike in groupby(closing, key=lambda closing_end: [stream.cut_offset(closing_end[0]) for stream in streams]):
        groups = list(alike)
        yield groups[-1][0], tuple(slice_end for _, group in groups for slice_end in group)


def _batch(
    streams: Sequence[TopicStream],
    position: Mapping[str, int],
    end_ms: int | None,
    tagged_until: int | None,
) -> PlannedBatch:
    spans = _spans(streams, position, end_ms)
    newest = {stream.instance: stream.watermark(spans[stream.instance].end) for stream in streams}
    # The last changes of a transaction before the cut may be dated after it; the slice has not ended because of that.
    watermarks = {name: ms if end_ms is None else min(ms, end_ms - 1) for name, ms in newest.items() if ms is not None}
    return PlannedBatch(spans, watermarks, (), tagged_until)


def _spans(streams: Sequence[TopicStream], position: Mapping[str, int], end_ms: int | None) -> dict[str, Span]:
    """The span of each instance from its position to the cut at the boundary, or to the end if it has not passed it."""
    spans = {}
    for stream in streams:
        start = position[stream.instance]
        cut = None if end_ms is None else stream.cut_offset(end_ms)
        spans[stream.instance] = Span(start, max(start, stream.end_offset if cut is None else cut))
    return spans


def _first_of_each(slice_ends: Sequence[SliceEnd], streams: Sequence[TopicStream]) -> tuple[OpenSliceEnd, ...]:
    first: dict[str, SliceEnd] = {}
    for slice_end in slice_ends:
        first.setdefault(slice_end.entity, slice_end)
    return tuple(
        OpenSliceEnd(
            waiting, tuple((s.instance, s.watermark(s.end_offset)) for s in streams if not s.has_passed(waiting.end_ms))
        )
        for waiting in first.values()
    )


def fold_empty(batches: Sequence[PlannedBatch], changed: Sequence[bool]) -> tuple[tuple[int, PlannedBatch], ...]:
    """Join each batch that does not change the table to the commit before it: one version is the state of both.

    Returns (index of the batch with the changes, batch with the joined spans and closes). Empty batches at the
    beginning become one commit without changes, which tags their slices.
    """
    commits: list[tuple[int, PlannedBatch]] = []
    for index, batch in enumerate(batches):
        if commits and not changed[index]:
            commits[-1] = (commits[-1][0], _join(commits[-1][1], batch))
        else:
            commits.append((index, batch))
    return tuple(commits)


def _join(earlier: PlannedBatch, later: PlannedBatch) -> PlannedBatch:
    spans = {name: Span(span.start, later.spans[name].end) for name, span in earlier.spans.items()}
    closes, settles = earlier.closes + later.closes, earlier.settles + later.settles
    return PlannedBatch(spans, later.watermarks, closes, earlier.late_before, settles)
