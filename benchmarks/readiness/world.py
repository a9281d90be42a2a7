"""A company's tasks: 80,000 with 120,000 dependencies make 150,000 instances a day (seed 000's size), times a scale."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from tidemark.dependency_model.entity import Dependency, Entity, EntityState
from tidemark.dependency_model.graph import DependencyGraph
from tidemark.dependency_model.offset import Offset
from tidemark.dependency_model.time import Period
from tidemark.system.garbage_collection import pause_collection

TASKS: Final = 80_000
EDGES: Final = 120_000
SINCE: Final = datetime(2024, 6, 30, 23, tzinfo=UTC)
"""An hour before the midnight that ends a day, a week and a month."""
UNTIL: Final = SINCE + timedelta(days=1)
_START: Final = "2024-06-20"

_PERIODS: Final = [("day", 95.5), ("hour", 3.5), ("week", 0.5), ("month", 0.47), ("5min", 0.03)]
_RANK: Final = {"5min": 0, "hour": 1, "day": 2, "week": 3, "month": 4}
_SAME: Final = [
    *(("Set 0", 70), ("Set -1", 12), ("Set -1,0", 5), ("Range -6..0", 6), ("Set -7,-1,0", 4)),
    ("last_available", 3),
]
_FROM_FINER: Final = [("all", 70), ("Range 0-6", 20), ("Set 0", 10)]
_FROM_COARSER: Final = [("Set -1", 90), ("last_available", 10)]


@dataclass(frozen=True, slots=True)
class Need:
    """A dependency as it was drawn, for who works it out by himself."""

    up: str
    offset: str


@dataclass(frozen=True, slots=True)
class ReadinessWorld:
    """`periods` and `needs` say the same as the graph, in plain words."""

    graph: DependencyGraph
    periods: dict[str, str]
    needs: dict[str, list[Need]]

    @property
    def edges(self) -> int:
        return sum(map(len, self.needs.values()))


def build(scale: float, start: str = _START) -> ReadinessWorld:
    """The same world for the same scale; every task has slices from the day `start` on."""
    tasks, edges = int(TASKS * scale), int(EDGES * scale)
    chance = random.Random(tasks)
    drawn = chance.choices([p for p, _ in _PERIODS], [w for _, w in _PERIODS], k=tasks)
    names = [f"task_{number:06}" for number in range(tasks)]
    needs: list[dict[str, str]] = [{} for _ in range(tasks)]
    count = 0
    while count < edges:
        down = chance.randrange(1, tasks)
        up, offset = _need(chance, drawn, down)
        if names[up] not in needs[down]:
            needs[down][names[up]] = offset
            count += 1
    periods = dict(zip(names, drawn, strict=True))
    with pause_collection():
        graph = DependencyGraph.build([_entity(name, periods[name], needs[n], start) for n, name in enumerate(names)])
    plain = {name: [Need(*need) for need in needs[number].items()] for number, name in enumerate(names)}
    return ReadinessWorld(graph, periods, plain)


def _need(chance: random.Random, periods: list[str], down: int) -> tuple[int, str]:
    """A dependency on an earlier task (one in twenty on itself, the period before)."""
    if chance.random() < 0.05:
        return down, "Set -1"
    up = chance.randrange(max(0, down - 5_000), down)
    while (periods[up], periods[down]) in (("5min", "month"), ("5min", "week"), ("hour", "month")):
        up = chance.randrange(max(0, down - 5_000), down)
    rank = _RANK[periods[up]] - _RANK[periods[down]]
    kinds = _SAME if rank == 0 else _FROM_FINER if rank < 0 else _FROM_COARSER
    return up, chance.choices([o for o, _ in kinds], [w for _, w in kinds])[0]


_OFFSETS: Final = {text: Offset.parse(text) for kinds in (_SAME, _FROM_FINER, _FROM_COARSER) for text, _ in kinds}


def _entity(name: str, period: str, needs: dict[str, str], start: str) -> Entity:
    depends_on = tuple(Dependency(entity=up, offset=_OFFSETS[offset]) for up, offset in needs.items())
    return Entity(name=name, period=Period.parse(period), start=start, states=(EntityState("completed", depends_on),))
