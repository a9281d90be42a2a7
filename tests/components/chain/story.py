"""What happens when: hours of simulated time in steps, and the injections between them, all drawn from one seed."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Final

from tests.components.chain.injections.kinds import INJECTIONS
from tests.components.chain.tables import FIRST_SLICE

HOUR: Final = 3600
STEP: Final = 300
"""Seconds of simulated time from one heartbeat to the next."""

PROCESSES: Final = (
    "capture killed",
    "member killed",
    "connector restarted",
    "replay of a part",
    "broker killed",
    "member joins",
    "capture killed at a point",
    "connect killed",
    "member leaves",
    "capture and its JVM killed",
    "member killed",
    "broker restarted",
    "capture killed",
    "member joins",
    "database restarted",
    "connect restarted",
    "capture and its JVM killed",
    "member killed",
    "replay of all",
    "database killed",
    "capture killed at a point",
    "member joins",
    "connector restarted",
    "member leaves",
    "connect killed",
)
"""What happens to processes, by their shares; the first ones are those of a small story."""

KINDS: Final = (
    *(kind for pair in zip(INJECTIONS, PROCESSES, strict=False) for kind in pair),
    *PROCESSES[len(INJECTIONS) :],
)
"""With what is done to the tables, the lake and what is around them."""

_WHOLE: Final = "replay of all"
_LAST: Final = "topic made anew"


@dataclass(frozen=True)
class Injection:
    """`step` is when; `draw` decides whatever it has to choose."""

    number: int
    step: int
    kind: str
    draw: float


@dataclass(frozen=True)
class Story:
    """Everything but the machine's own timing; `kinds` of injections come in turns."""

    seed: int
    changes: int
    injected: int
    hours: int
    kinds: tuple[str, ...] = KINDS

    @property
    def steps(self) -> int:
        """Steps whose hours end, and as many as are left over of one that does not."""
        return self.hours * HOUR // STEP + 2

    def at(self, step: int) -> int:
        """The instant (epoch seconds) at which a step begins."""
        return int(datetime.fromisoformat(f"{FIRST_SLICE}:00:00+00:00").timestamp()) + step * STEP

    def hour(self, step: int) -> str | None:
        """The slice that ends when this step begins."""
        if step == 0 or self.at(step) % HOUR:
            return None
        return self.slices[step * STEP // HOUR - 1]

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """The instants (epoch seconds) at which the hours end, in order."""
        return tuple(self.at((number + 1) * HOUR // STEP) for number in range(self.hours))

    @cached_property
    def slices(self) -> tuple[str, ...]:
        """Keys of the hours, in order."""
        starts = (self.at(number * HOUR // STEP) for number in range(self.hours))
        return tuple(f"{datetime.fromtimestamp(start, UTC):%Y-%m-%dT%H}" for start in starts)

    @cached_property
    def injections(self) -> tuple[Injection, ...]:
        """In the order of their steps; what sends everything again comes while that is not much yet."""
        chance = random.Random(self.seed)
        kinds = [self.kinds[number % len(self.kinds)] for number in range(self.injected)]
        chance.shuffle(kinds)
        for place, kind in enumerate(kinds):
            early = chance.randrange(len(kinds) // 3 + 1)
            if kind == _WHOLE and place > early:
                kinds[place], kinds[early] = kinds[early], kind
        # From then on nobody can say what a topic should hold.
        kinds.sort(key=lambda kind: kind == _LAST)
        steps = sorted(chance.randrange(1, self.steps) for _ in kinds)
        return tuple(
            Injection(number, step, kind, chance.random())
            for number, (step, kind) in enumerate(zip(steps, kinds, strict=True), 1)
        )
