"""A company drawn by chance: external inputs, three layers of daily tables, hourly ones, and how long each takes.

The truth is said twice: in declarations, which is all that the product sees, and as numbers for the simulation.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.entity import parse_entity
from tidemark.dependency_model.graph import DependencyGraph

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

START: Final = "2025-01-01"
SURGES: Final = 0.01
_LAYERS: Final = (("dwd", 24), ("dws", 18), ("ads", 12))
_INPUTS, _HOURLY = 10, 3
_LATER: Final = (None, None, None, None, 6, 12, 18)
"""The hour of the day before which some tables do not start."""


@dataclass(frozen=True, slots=True)
class Truth:
    """How long something takes, or arrives after its window: `seconds` on a usual first day, changed by what follows.

    `weekend` is a factor, `growth` a day's; `noise` the deviation of the logarithm. `slow`: how often it takes longer
    by hours (an input) or several times as long (a run); `fails`: how often a run fails.
    """

    seconds: float
    weekend: float
    growth: float
    noise: float
    slow: float
    fails: float = 0.0
    reading: float = 0.0
    """The share of a run's time that grows with what it reads."""

    def usual(self, day: int) -> float:
        """Without chance."""
        return self.seconds * exp(self.growth * day) * (self.weekend if day % 7 in (3, 4) else 1.0)

    def draw(self, day: int, chance: random.Random, size: float = 1.0) -> float:
        """Of a run on a day, counted from 2025-01-01, a Wednesday, that reads `size` times as much as usual."""
        factor = chance.uniform(2.5, 5.0) if chance.random() < self.slow else 1.0
        factor *= 1.0 - self.reading + self.reading * size
        return self.usual(day) * exp(chance.gauss(0.0, self.noise)) * factor

    def draw_arrival(self, day: int, chance: random.Random) -> float:
        """Of an input on a day."""
        later = chance.uniform(3.0, 8.0) * 3_600.0 if chance.random() < self.slow else 0.0
        return self.usual(day) * exp(chance.gauss(0.0, self.noise)) + later


@dataclass(frozen=True, slots=True)
class Table:
    """`inputs` are (name, back): of the same window, or so many windows before; `hours` feed a day, all 24 of it."""

    name: str
    truth: Truth
    is_hourly: bool = False
    is_external: bool = False
    not_before: int | None = None
    inputs: tuple[tuple[str, int], ...] = ()
    hours: tuple[str, ...] = ()

    def declaration(self, ready_by: str | None = None) -> str:
        """As YAML."""
        lines = [f"period: {'hour' if self.is_hourly else 'day'}", "time_zone: UTC"]
        lines += ["kind: Virtual"] if self.is_external else []
        lines += [f'earliest: "0 {self.not_before} * * *"'] if self.not_before is not None else []
        lines += [f'ready_by: "{ready_by}"'] if ready_by else []
        needs = [f'{{entity: {name}, offset: "Set {-back}"}}' for name, back in self.inputs]
        needs += [f"{{entity: {name}, offset: all}}" for name in self.hours]
        lines += [f"depends_on: [{', '.join(needs)}]"] if needs else []
        return "\n".join(lines)


@dataclass
class Company:
    """`slots` runs at a time."""

    tables: dict[str, Table] = field(default_factory=dict)
    slots: int = 6

    def graph(self, ready_by: Mapping[str, str]) -> DependencyGraph:
        """The declarations, with promises by table."""
        return DependencyGraph.build(
            [
                parse_entity(table.declaration(ready_by.get(name)), name, defaults={"start": START})
                for name, table in self.tables.items()
            ]
        )


def draw_company(chance: random.Random) -> Company:
    """Some dozens of tables."""
    company = Company()
    for number in range(_INPUTS):
        _add(company, Table(f"in_{number:02}", _arrival(chance, 900.0, 4_500.0), is_external=True))
    for number in range(_HOURLY):
        raw, clean = f"in_hour_{number}", f"hour_{number}"
        _add(company, Table(raw, _arrival(chance, 120.0, 600.0), is_hourly=True, is_external=True))
        _add(company, Table(clean, _run(chance, 60.0, 300.0), is_hourly=True, inputs=((raw, 0),)))
    above = [f"in_{number:02}" for number in range(_INPUTS)]
    for layer, count in _LAYERS:
        names = [f"{layer}_{number:02}" for number in range(count)]
        for number, name in enumerate(names):
            inputs = [(up, 0) for up in chance.sample(above, chance.randint(1, 3))]
            inputs += [(name, 1)] if chance.random() < 0.15 else []
            hours = (f"hour_{chance.randrange(_HOURLY)}",) if layer == "dwd" and number % 6 == 0 else ()
            later = chance.choice(_LATER) if layer == "ads" else None
            truth = _run(chance, 240.0, 1_800.0)
            _add(company, Table(name, truth, not_before=later, inputs=tuple(inputs), hours=hours))
        above = names
    return company


def draw_size(chance: random.Random) -> float:
    """How many times as much as usual an input has: a campaign now and then."""
    return exp(chance.gauss(0.0, 0.08)) * (chance.uniform(2.0, 8.0) if chance.random() < SURGES else 1.0)


def _add(company: Company, table: Table) -> None:
    company.tables[table.name] = table


def _arrival(chance: random.Random, least: float, most: float) -> Truth:
    return Truth(
        chance.uniform(least, most),
        weekend=chance.uniform(0.7, 1.2),
        growth=chance.uniform(0.0, 0.002),
        noise=chance.uniform(0.05, 0.2),
        slow=0.02 if least > 300.0 else 0.002,
    )


def _run(chance: random.Random, least: float, most: float) -> Truth:
    return Truth(
        chance.uniform(least, most),
        weekend=chance.uniform(0.5, 1.1),
        growth=chance.uniform(0.0, 0.004),
        noise=chance.uniform(0.05, 0.25),
        slow=0.01,
        fails=0.02,
        reading=chance.uniform(0.1, 1.0),
    )
