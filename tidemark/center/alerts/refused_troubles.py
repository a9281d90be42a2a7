"""Groups refused external events by cause: one for each entity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.alerts.alert import Trouble

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.center.detectors.refused_events import RefusedEvent
    from tidemark.dependency_model.graph import DependencyGraph


def refused_troubles(refused: Sequence[RefusedEvent], graph: DependencyGraph) -> list[Trouble]:
    """`refused` are recent events, oldest first; the newest one is described in full."""
    newest = {event.entity: event for event in refused}
    return [_trouble(event, sum(other.entity == name for other in refused), graph) for name, event in newest.items()]


def _trouble(event: RefusedEvent, count: int, graph: DependencyGraph) -> Trouble:
    named = event.entity or "an entity without a name"
    cause = f"events of {named} cannot be taken in"
    channels = graph.entity(event.entity).notify if event.entity in graph else ()
    return Trouble(
        cause, f"{cause}: {count} were refused, the last one {event.source}: {event.why}", (), tuple(channels)
    )
