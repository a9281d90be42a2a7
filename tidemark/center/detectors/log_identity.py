"""Whether Dagster's event log is still the one that was read: event numbers belong to one storage.

Another log is shorter than the position, or it has an event before the position that is newer than all that were read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dagster import DagsterEventType, EventRecordsFilter

if TYPE_CHECKING:
    import dagster as dg

KINDS: Final = (DagsterEventType.ASSET_MATERIALIZATION_PLANNED, DagsterEventType.ASSET_MATERIALIZATION)
"""The kinds of events that the center reads."""
_COMPARED: Final = 10_000
_ROUNDED_SECONDS: Final = 1.0


def why_other_log(instance: dg.DagsterInstance, read_to: int, newest: float) -> str:
    """How the log differs; empty if it is the same. `newest` is the newest time read (epoch seconds; 0 if unknown)."""
    log = instance.event_log_storage
    last = log.get_maximum_record_id() or 0
    if last < read_to:
        return f"ends at event {last}"
    for kind in KINDS if newest else ():
        unread = EventRecordsFilter(
            event_type=kind,
            after_cursor=read_to - _COMPARED,
            before_cursor=read_to + 1,
            after_timestamp=newest + _ROUNDED_SECONDS,
        )
        if records := log.get_event_records(unread, limit=1):
            return f"has an event {records[0].storage_id} that was not read"
    return ""
