"""The same steps in turns on two lakes of one warm session: in an object store with slow requests, and on disk."""

from __future__ import annotations

import sys
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from benchmarks.scaleout.asked import watched_store
from benchmarks.scaleout.world import SmallLake
from benchmarks.timing import Timer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_WARM: Final = 4


def slow_store_ratios(folder: Path, store: str, *, rounds: int, delay_ms: float) -> dict[str, Any]:
    """`slice_ratio_<ms>ms` and `merge_ratio_<ms>ms`: in the store / on disk; `_0ms` of the same store without delay."""
    with watched_store(folder, store) as (watched, location):
        lakes = {"store": SmallLake.at(folder / "store", location), "disk": SmallLake.at(folder / "disk")}
        lakes["store"].start()
        for lake in lakes.values():
            lake.begin()
        figures: dict[str, Any] = {}
        number = 0
        for milliseconds in (0.0, delay_ms):
            watched.delay(milliseconds)
            timers = _take_turns(lakes, number, rounds)
            number += _WARM + rounds
            figures |= _ratios(timers, f"{milliseconds:g}ms")
        watched.delay(0)
    return figures


def _take_turns(lakes: Mapping[str, SmallLake], first: int, rounds: int) -> dict[tuple[str, str], Timer]:
    timers = {(step, name): Timer(_WARM) for step in ("slice", "merge") for name in lakes}
    for number in range(first, first + _WARM + rounds):
        for name, lake in lakes.items():
            lake.fill(number)
            timers["slice", name].run(lambda lake=lake, number=number: lake.compute(number))  # type: ignore[misc]
        for name, lake in lakes.items():
            lake.change()
            timers["merge", name].run(lake.merge)
        sys.stderr.write(f"  turn {number - first + 1} of {_WARM + rounds}\n")
    return timers


def _ratios(timers: Mapping[tuple[str, str], Timer], suffix: str) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for step in ("slice", "merge"):
        store, disk = timers[step, "store"], timers[step, "disk"]
        pairs = zip(store.wall[_WARM:], disk.wall[_WARM:], strict=True)
        figures[f"{step}_ratio_{suffix}"] = round(median(slow / fast for slow, fast in pairs), 2)
        figures[f"{step}_store_s_{suffix}"] = round(store.seconds, 3)
        figures[f"{step}_disk_s_{suffix}"] = round(disk.seconds, 3)
    return figures
