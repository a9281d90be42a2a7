"""One external slice and everything that probes need, for tests that look at real sources of other programs."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tests.dependency_model.world import entity
from tidemark.crawl.all_probes import look_at
from tidemark.crawl.connection_secrets import ConnectionSecrets
from tidemark.crawl.probed_slice import ProbeContext, ProbedSlice
from tidemark.dependency_model.graph import DependencyGraph
from tidemark.dependency_model.slice import Slice

if TYPE_CHECKING:
    from tidemark.dependency_model.arrival.sighting import Sight


@dataclass
class KnownMaterializations:
    """What an event log holds: (number, rows) by asset and partition."""

    events: dict[tuple[tuple[str, ...], str | None], tuple[int, int | None]] = field(default_factory=dict)

    def newest(self, asset: tuple[str, ...], partition: str | None) -> tuple[int, int | None] | None:
        return self.events.get((asset, partition))


@dataclass
class KnownCounts:
    """Counts by name: (minute, side, part, records), and the minute up to which they are final."""

    rows: dict[str, list[tuple[int, str, str, int]]] = field(default_factory=dict)
    final: dict[str, int] = field(default_factory=dict)

    def within(self, name: str, first: int, end: int) -> list[tuple[int, str, str, int]]:
        return [row for row in self.rows.get(name, []) if first <= row[0] < end]

    def final_until(self, name: str) -> int:
        return self.final.get(name, 0)


def look(
    probe: str,
    key: str,
    *,
    period: str = "day",
    env: dict[str, str] | None = None,
    secrets: ConnectionSecrets | None = None,
    assets: KnownMaterializations | None = None,
    counts: KnownCounts | None = None,
    now: datetime = datetime(2026, 6, 1, tzinfo=UTC),
    more: str = "",
    zone: str = "UTC",
) -> Sight:
    """What the probe of an entity, in UTC or another zone, sees of a slice."""
    text = f"kind: Virtual\nperiod: {period}\ntime_zone: {zone}\nprobe:\n  {probe}\n{more}"
    declared = entity("outside", text)
    assert declared.probe is not None
    graph = DependencyGraph.build([declared])
    known = secrets or ConnectionSecrets(env or {})
    context = ProbeContext(known, lambda: now, assets or KnownMaterializations(), counts or KnownCounts(), 5)
    return look_at(declared.probe, ProbedSlice.of(graph, Slice.parse(f"outside@{key}")), context)
