"""The times in a declaration as instants in UTC, for one slice."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tidemark.dependency_model.time.cron import Cron
from tidemark.dependency_model.time.window import seconds_of
from tidemark.dependency_model.time.zone import Zone

if TYPE_CHECKING:
    from tidemark.dependency_model.entity.entity import Entity
    from tidemark.dependency_model.time.window import Window


def earliest(entity: Entity, window: Window) -> datetime:
    """The earliest start of a slice: its window's end, or the first time of its cron text at or after it.

    A static slice may start at any time.
    """
    if entity.is_static:
        return window.start
    if entity.earliest is None:
        return window.end
    zone = Zone.load(entity.time_zone)
    return datetime.fromtimestamp(Cron.parse(entity.earliest).next(seconds_of(window.end), zone), UTC)


def ready_by(entity: Entity, window: Window) -> datetime | None:
    """The promised time of a slice: the first `ready_by` on the local clock at or after the window's end."""
    if entity.ready_by is None:
        return None
    hour, minute = entity.ready_by.split(":")
    daily = Cron.parse(f"{int(minute)} {int(hour)} * * *")
    return datetime.fromtimestamp(daily.next(seconds_of(window.end), Zone.load(entity.time_zone)), UTC)
