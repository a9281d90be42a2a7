"""The newest results of the rules of slices, from the state store: the failed rule, and what it expected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import select, tuple_

from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, Quality, RunState
from tidemark.state_store.row_codec import sub_of, sub_text
from tidemark.state_store.schema import TRANSITIONS
from tidemark.state_store.transition import microseconds

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from tidemark.dependency_model.status import SliceStatus
    from tidemark.state_store.database import Database

_CHUNK: Final = 300
_TOLD_BY: Final = {
    Quality.PASSED: Event.QUALITY_PASSED,
    Quality.FAILED: Event.QUALITY_FAILED,
    Quality.IGNORED: Event.QUALITY_IGNORED,
}


def told_rules(
    database: Database, statuses: Mapping[Slice, SliceStatus], until: datetime | None = None
) -> dict[Slice, str]:
    """The reason of each slice's quality, recorded by `until` if given.

    For a failed slice of unknown quality it is the reason of the failure, because a rule may have crashed. Raises
    StateStoreDownError.
    """
    wanted = {slice_: event for slice_, status in statuses.items() if (event := _event_of(status)) is not None}
    keys = [(slice_.entity, slice_.key, sub_text(slice_.sub)) for slice_ in wanted]
    columns, told = TRANSITIONS.c, dict[Slice, str]()
    query = (
        select(columns.entity, columns.key, columns.sub, columns.event, columns.why)
        .where(columns.event.in_({event.value for event in wanted.values()}))
        .order_by(columns.seq)
    )
    query = query if until is None else query.where(columns.record_time <= microseconds(until))
    with database.reading() as connection:
        for start in range(0, len(keys), _CHUNK):
            some = tuple_(columns.entity, columns.key, columns.sub).in_(keys[start : start + _CHUNK])
            for entity, key, sub, event, why in connection.execute(query.where(some)):
                slice_ = Slice(entity, key, sub_of(sub))
                if wanted[slice_].value == event:
                    told[slice_] = why
    return told


def _event_of(status: SliceStatus) -> Event | None:
    """The event with the reason; None if no rule has a result."""
    if status.quality is Quality.UNKNOWN:
        return Event.FAILED if status.run_state is RunState.FAILED else None
    return _TOLD_BY[status.quality]
