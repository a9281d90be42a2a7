"""Backfills planned from random bad slices, judged by the slow reference: is anything rebuilt that did not need it?"""

from __future__ import annotations

import random
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

from benchmarks.impact.touched import Touched
from benchmarks.readiness.reference import Key, begin_of, inputs_of, key_of
from tidemark.dependency_model.backfill import plan_backfill
from tidemark.dependency_model.impact import downstream_closure
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Quality, RunState, SliceStatus

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from benchmarks.impact.touched import Begun
    from benchmarks.readiness.world import ReadinessWorld

_THERE: Final = SliceStatus(RunState.COMPLETED, frozenset({"completed"}), Quality.PASSED)
_LAST_HOURS: Final = 8 * 24


def measure_rebuilds(world: ReadinessWorld, backfills: int, until: datetime) -> dict[str, Any]:
    """Plan as many backfills as asked for; a hash of a slice says whether it is there, and whether its run told."""
    chance, touched = random.Random(1), Touched(world, until, is_there, is_told)
    planned = needless = missed = 0
    for _ in range(backfills):
        bad = random_slices(world, chance, until)
        rebuilt = planned_from(world, bad, until)
        needed = touched.by(bad) | {(name, key_of(world.periods[name], begin)) for name, begin in bad}
        planned += len(rebuilt)
        needless += len(rebuilt - needed)
        missed += len(needed - rebuilt)
    return {"backfills": backfills, "rebuilds": planned, "needless_rebuilds": needless, "missed_rebuilds": missed}


def planned_from(world: ReadinessWorld, bad: Sequence[Begun], until: datetime) -> set[Key]:
    """What a backfill would rebuild, the bad slices with it."""
    roots = [Slice(name, key_of(world.periods[name], begin)) for name, begin in bad]
    there = [
        slice_ for slice_ in downstream_closure(world.graph, roots, until) if is_there((slice_.entity, slice_.key))
    ]
    told = {slice_: _read(world, slice_) for slice_ in there if is_told((slice_.entity, slice_.key))}
    plan = plan_backfill(world.graph, roots, there, dict.fromkeys((*roots, *there), _THERE), told)
    return {(slice_.entity, slice_.key) for slice_ in plan.rebuilt}


def _read(world: ReadinessWorld, slice_: Slice) -> list[tuple[Slice, int]]:
    """What the run of a slice read, by dates: of those that would do, the newest."""
    period = world.periods[slice_.entity]
    begin = world.graph.window(slice_).start
    return [(Slice(*used), 1) for used, _ in inputs_of(world, slice_.entity, period, begin)]


def random_slices(world: ReadinessWorld, chance: random.Random, until: datetime) -> list[Begun]:
    """One to three, each of any task or of an hourly one, of the last days."""
    hourly = [name for name, period in world.periods.items() if period == "hour"]
    names = [chance.choice(chance.choice((hourly, list(world.periods)))) for _ in range(chance.randint(1, 3))]
    moments = [until - timedelta(hours=chance.randint(1, _LAST_HOURS)) for _ in names]
    return [(name, begin_of(world.periods[name], moment)) for name, moment in zip(names, moments, strict=True)]


def is_there(key: Key) -> bool:
    return _hash(key, "there") % 8 > 0


def is_told(key: Key) -> bool:
    return _hash(key, "told") % 2 > 0


def _hash(key: Key, word: str) -> int:
    return crc32(f"{key[0]}@{key[1]} {word}".encode())
