"""Inspection of the capture's names: a snapshot that has one has arrived, and its slice may be checked and used."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from dependency_model.slice import Slice
from dependency_model.status import Event, Life
from resources.state_store.transition import Facts
from sensors.dependency_center.fact import Fact

if TYPE_CHECKING:
    from resources.state_store.registry import SnapshotRegistry
    from sensors.dependency_center.center import DependencyCenter


class SnapshotDetector:
    """Looks at the names of every entity that is captured."""

    def __init__(self, registry: SnapshotRegistry, center: DependencyCenter) -> None:
        self._registry, self._center = registry, center

    def poll(self) -> int:
        """Report what has arrived and waits; returns how many slices that released."""
        graph, now, facts = self._center.graph, datetime.now(UTC), []
        for name in graph:
            entity = graph.entity(name)
            if not (entity.source or entity.snapshot_of):
                continue
            for one in self._registry.of(name, str(entity.period)):
                status = self._center.status(piece := Slice(name, one.slice))
                if status.life is Life.WAITING:
                    event_id = f"snapshot:{piece}:{status.generation}"
                    told = Facts(snapshot_id=str(one.version), row_count=one.rows)
                    why = f"version {one.version} was named"
                    facts.append(Fact(event_id, piece, Event.RELEASED, now, "capture", why, data=told))
        return self._center.report(facts).new if facts else 0
