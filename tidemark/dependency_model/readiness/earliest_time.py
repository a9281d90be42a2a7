"""The times that a declaration gives a slice, as instants in UTC."""

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
    """Before this a slice does not start: its window's end, or the first time of its cron text not before it.

    A static one may start at any time.
    """
    if entity.is_static:
        return window.start
    if entity.earliest is None:
        return window.end
    zone = Zone.load(entity.time_zone)
    return datetime.fromtimestamp(Cron.parse(entity.earliest).next(seconds_of(window.end), zone), UTC)


def ready_by(entity: Entity, window: Window) -> datetime | None:
    """When a slice is promised: the first time the local clock shows `ready_by` at or after the window's end."""
    if entity.ready_by is None:
        return None
    hour, minute = entity.ready_by.split(":")
    daily = Cron.parse(f"{int(minute)} {int(hour)} * * *")
    return datetime.fromtimestamp(daily.next(seconds_of(window.end), Zone.load(entity.time_zone)), UTC)
