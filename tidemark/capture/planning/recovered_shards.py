"""Recognises tables that a connector declares again after it lost its schema history, but without a lost change.

Debezium's `snapshot.mode=recovery` declares all tables and goes on where it stopped. `no_data` declares them in the
same way, but starts at the present. The position where the connector goes on shows the difference: if the binlog was
read up to there, nothing is missing.
"""

from collections.abc import Collection, Mapping

from tidemark.capture.binlog.continuity import BinlogProgress
from tidemark.capture.binlog.position import BinlogPlace
from tidemark.capture.initial_load.load_events import LoadEvent
from tidemark.capture.source.scan_summary import Summary


def loads_of_missing_rows(
    summary: Summary, progress: Mapping[str, BinlogProgress], captured: Collection[str]
) -> tuple[LoadEvent, ...]:
    """Where tables lack rows, without shards whose changes were read up to where the connector goes on.

    `progress` is each instance's progress before the scan; `captured` are the shards with changes in the lake.
    """
    return tuple(event for event in summary.missing_rows if not _goes_on(event, summary, progress, captured))


def _goes_on(
    event: LoadEvent, summary: Summary, progress: Mapping[str, BinlogProgress], captured: Collection[str]
) -> bool:
    first = summary.first_changes.get((event.instance, event.physical))
    if event.shard not in captured and (first is None or first >= event.offset):
        return False
    before, binlog = progress.get(event.instance), summary.binlogs.get(event.instance)
    read = binlog.last_before(event.offset) if binlog else None
    if read is None and before is not None:
        read = BinlogPlace(before.base, before.position)
    # Without GTIDs, a position may be of another server's binlog.
    has_gtids = (binlog is not None and binlog.has_gtids) or (before is not None and bool(before.gtids))
    return has_gtids and read is not None and event.place is not None and event.place.is_within(read)
