"""Cuts batches at changes without row events, so that each such change has a batch of its own."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tidemark.capture.planning.commit_planner import PlannedBatch, Span


def cut_at(batches: Sequence[PlannedBatch], places: Iterable[tuple[str, int]]) -> list[PlannedBatch]:
    """The same records in the same order; the record at each of `places` (instance, offset) is alone in its batch.

    The last part of a batch has its closes and settles, and the records of the other instances.
    """
    cut = list(batches)
    for instance, offset in sorted(set(places)):
        cut = [part for batch in cut for part in _parts(batch, instance, offset)]
    return cut


def _parts(batch: PlannedBatch, instance: str, offset: int) -> list[PlannedBatch]:
    span = batch.spans.get(instance)
    if span is None or offset not in span:
        return [batch]
    begun = [
        _begun(batch, instance, Span(start, end))
        for start, end in ((span.start, offset), (offset, offset + 1))
        if start < end
    ]
    rest = replace(batch, spans={**batch.spans, instance: Span(offset + 1, span.end)})
    return [*begun, rest]


def _begun(batch: PlannedBatch, instance: str, span: Span) -> PlannedBatch:
    """A part with records of one instance alone. Watermarks are unknown until the whole batch is read."""
    standing = {name: Span(other.start, other.start) for name, other in batch.spans.items()}
    return replace(batch, spans={**standing, instance: span}, watermarks={}, closes=(), settles=())
