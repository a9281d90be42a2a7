"""Wall and processor seconds of what is done again and again, the first times left out."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import psutil

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


@dataclass
class Timer:
    """`warm` runs come before the ones that count."""

    warm: int
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def run(self, action: Callable[[], T]) -> T:
        """Do it and note what it took."""
        begun, cpu = time.perf_counter(), cpu_seconds()
        result = action()
        self.wall.append(time.perf_counter() - begun)
        self.cpu.append(cpu_seconds() - cpu)
        return result

    @property
    def seconds(self) -> float:
        """The median of the runs that count."""
        return statistics.median(self.wall[self.warm :])

    def figures(self, name: str) -> dict[str, float]:
        """`<name>_seconds` and `<name>_cpu_seconds`, medians."""
        cpu = statistics.median(self.cpu[self.warm :])
        return {f"{name}_seconds": round(self.seconds, 3), f"{name}_cpu_seconds": round(cpu, 3)}


def cpu_seconds() -> float:
    """Of this process and all that it started, the JVM above all."""
    process = psutil.Process()
    return cpu_of(process, *process.children(recursive=True))


def cpu_of(*processes: psutil.Process) -> float:
    """Processor seconds of these alone, what they started left out."""
    return float(sum(sum(process.cpu_times()[:2]) for process in processes))
