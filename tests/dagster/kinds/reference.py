"""The slow reference: which slices of a generated warehouse have which content and states, looked at one by one.

It shares nothing with the engine: dates are added, sets are listed, and everything is looked at again until nothing
changes any more.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from tests.dagster.kinds.generator import DAYS, REGIONS, START

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.dagster.kinds.generator import Generated, Made, Needs

Key = tuple[str, str, str]
"""Entity, day or 'static', region."""
MONDAY = START - timedelta(days=START.weekday())


@dataclass
class Content:
    """What a slice holds, the states that it has reached, and what its last computation read and went without."""

    value: str
    states: set[str] = field(default_factory=set)
    missing: set[Key] = field(default_factory=set)
    used: set[Key] = field(default_factory=set, compare=False)


class Reference:
    """What there is after each step."""

    def __init__(self, generated: Generated) -> None:
        self._made = {made.name: made for made in generated.entities}
        self.there: dict[Key, Content] = {}

    def arrive(self, slices: list[str]) -> None:
        for text in slices:
            name, _, rest = text.partition("@")
            day, _, part = rest.partition("/region=")
            self.there[name, day, part] = Content(text, {"completed"})
        while sum(self._compute(key) for key in self._slices()):
            pass

    def _slices(self) -> Iterator[Key]:
        for made in self._made.values():
            if not made.is_external and made.kind != "Project":
                yield from ((made.name, day, part) for day in self._days(made) for part in _parts(made))

    @staticmethod
    def _days(made: Made) -> list[str]:
        if made.period == "static":
            return ["static"]
        if made.period == "week":
            return [MONDAY.isoformat()]
        return [(START + timedelta(days=number)).isoformat() for number in range(DAYS)]

    def _compute(self, key: Key) -> bool:
        """Bring a slice as far as it goes; whether that changed anything."""
        made, before = self._made[key[0]], self.there.get(key)
        if (
            before
            and "completed" in before.states
            and any(n.offset == "last_available" for n in made.states["completed"])
        ):
            return False
        states = set(before.states) - {"partial"} if before else set()
        now = before
        for state in made.states or {"completed": []}:
            granted = self._granted(made, key, state)
            if granted is None:
                break
            used, missing = granted
            states |= {state} | ({"partial"} if missing else set())
            now = Content(self._value(made, key, used), set(states), missing, set().union(*used.values()))
        if now is None or now == before:
            return False
        self.there[key] = now
        return True

    def _granted(self, made: Made, key: Key, state: str) -> tuple[dict[str, set[Key]], set[Key]] | None:
        """What is read of each upstream, and what is missing; None while the slice waits."""
        needs = made.states.get(state, [])
        if made.project and not self._is_open(key):
            return None
        used: dict[str, set[Key]] = {}
        lacking: set[Key] = set()
        for need in needs:
            wanted = self._wanted(need, made, key)
            there = [next(filter(partial(self._accepts, need), candidates), None) for candidates in wanted]
            absent = {wanted[at][0] for at, chosen in enumerate(there) if chosen is None}
            if absent and not _is_enough(need.weak, len(wanted) - len(absent), len(wanted)):
                return None
            lacking |= absent
            used.setdefault(need.up, set()).update(chosen for chosen in there if chosen)
        return used, lacking

    def _is_open(self, key: Key) -> bool:
        """Whether the project's root is there: what the project waits for, on each day of the slice's window."""
        window = [key[1]] if self._made[key[0]].period == "day" else self._days(self._made["school"])
        return all(("clicks", day, "") in self.there for day in window)

    def _accepts(self, need: Needs, key: Key) -> bool:
        content = self.there.get(key)
        return content is not None and bool(content.states & set(need.states))

    def _wanted(self, need: Needs, made: Made, key: Key) -> list[list[Key]]:
        """For each slice that is asked for those that will do, the best one first."""
        up = self._made[need.up]
        regions = [key[2]] if up.is_parted and made.is_parted else _parts(up)
        if need.offset == "static":
            return [[(up.name, "static", "")]]
        if need.offset == "last_available":
            day = date.fromisoformat(key[1])
            older = [(day - timedelta(days=back)).isoformat() for back in range(DAYS)]
            return [[(up.name, earlier, part) for earlier in older] for part in regions]
        exist = self._days(up)
        return [[(up.name, day, part)] for part in regions for day in _named(need.offset, key[1]) if day in exist]

    def _value(self, made: Made, key: Key, used: dict[str, set[Key]]) -> str:
        parts = [made.name] + ([key[1]] if made.period != "static" else [])
        parts += [",".join(sorted(self.there[read].value for read in used.get(up, ()))) for up in made.upstreams]
        return hashlib.sha1("|".join(parts).encode()).hexdigest()  # noqa: S324 - a fingerprint


def _parts(made: Made) -> list[str]:
    return list(REGIONS) if made.is_parted else [""]


def _named(offset: str, key: str) -> list[str]:
    day = date.fromisoformat(key)
    if offset == "all":
        counts = list(range(7))
    elif offset == "to_date week":
        counts = list(range(-day.weekday(), 1))
    elif offset.startswith("Range"):
        counts = [-2, -1, 0]
    else:
        counts = [int(count) for count in offset.removeprefix("Set ").split(",")]
    return [(day + timedelta(days=count)).isoformat() for count in counts]


def _is_enough(weak: str, there: int, wanted: int) -> bool:
    if weak.startswith("timeout"):
        return True
    needed = {"any_of: true": 1, "at_least: 2": 2}.get(weak, inf)
    return there >= min(needed, wanted)
