"""The loads of a table in a scan: requests and ends."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tidemark.capture.commits.commit_state import CommitState
from tidemark.capture.commits.holds import HoldEvent
from tidemark.capture.initial_load.load_events import LoadEvent
from tidemark.capture.source.scan_summary import Summary
from tidemark.capture.source_table import SourceTable, topic_of


def asked_and_ended(
    source: SourceTable, summary: Summary, state: CommitState, shards: Mapping[str, Sequence[str]]
) -> list[HoldEvent]:
    """Requests and ends of loads after the table's offsets, in order; `shards` are its known shards."""
    events = [*_asked(source, summary, shards), *_ended(source, summary)]
    return sorted(event for event in events if event.offset >= state.offsets.get(topic_of(event.instance), 0))


def _asked(source: SourceTable, summary: Summary, shards: Mapping[str, Sequence[str]]) -> Iterator[HoldEvent]:
    for request in summary.requests:
        exact = [name for name in request.tables if source.holds(request.instance, name)]
        matched = [name for name in shards.get(request.instance, ()) if request.asks_for(name)]
        for physical in dict.fromkeys([*exact, *matched]):
            shard = f"{request.instance}.{physical}"
            if request.is_partial:
                yield HoldEvent(request.instance, request.offset, shard, "asked in part", load=request.load)
            else:
                yield HoldEvent(request.instance, request.offset, shard, "asked", load=request.load)


def _ended(source: SourceTable, summary: Summary) -> Iterator[HoldEvent]:
    asked = {request.load: request.offset for request in summary.requests}
    for end in summary.load_ends:
        if source.holds(end.instance, end.physical):
            is_early = end.is_empty and asked.get(end.load, end.offset) >= end.offset
            shard = f"{end.instance}.{end.physical}"
            yield HoldEvent(end.instance, end.offset, shard, "loaded early" if is_early else "loaded", load=end.load)
    for failed in summary.failed_loads:
        if source.holds(failed.instance, failed.physical):
            shard = f"{failed.instance}.{failed.physical}"
            yield HoldEvent(failed.instance, failed.offset, shard, "failed")


def loads_of_table(
    source: SourceTable, summary: Summary, state: CommitState, declared: Iterable[LoadEvent]
) -> list[LoadEvent]:
    """Where the table's shards lack rows, by `declared`, and where the missing rows have arrived, after its offsets."""
    lacking = [
        event
        for event in declared
        if source.holds(event.instance, event.physical)
        and event.offset >= state.offsets.get(topic_of(event.instance), 0)
    ]
    holds = state.holds
    read: list[LoadEvent] = []
    for event in asked_and_ended(source, summary, state, {}):
        # A first load may be requested by other ways than the signal table.
        is_unasked = event.what == "loaded" and event.shard not in holds.loading
        if is_unasked or holds.ends_a_load(event):
            physical = event.shard.partition(".")[2]
            read.append(LoadEvent(event.instance, event.offset, physical, is_loaded=True))
        holds = holds.after(event)
    return [*lacking, *read]
