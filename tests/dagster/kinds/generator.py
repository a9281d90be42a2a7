"""Random small warehouses of all kinds: four days, some external tables, some computed ones, a script of arrivals."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Literal

START, DAYS = date(2026, 3, 26), 4
"""Thursday to Sunday: the week's first days do not exist."""
PROJECT = f"time_zone: UTC\nstart: {START}\nend: {START + timedelta(days=DAYS)}\n"
REGIONS = ("cn", "us")

Period = Literal["day", "week", "static"]
OFFSETS = ("Set 0", "Set -1,0", "Set -2,0", "Range -2..0", "to_date week")
WEAK = ("any_of: true", "at_least: 2", "timeout: 1h")


@dataclass(frozen=True)
class Needs:
    """One dependency, as YAML has it; `states` are those that are accepted."""

    up: str
    offset: str
    weak: str = ""
    states: tuple[str, ...] = ("completed",)

    @property
    def yaml(self) -> str:
        weak = f", weak: {{{self.weak}}}" if self.weak else ""
        states = f", states: [{', '.join(self.states)}]" if self.states != ("completed",) else ""
        return f"{{entity: {self.up}, offset: '{self.offset}'{weak}{states}, because: generated}}"


@dataclass
class Made:
    """An entity; without `needs` of any state it is external, unless it is static. `states` are in order."""

    name: str
    kind: str
    period: Period = "day"
    states: dict[str, list[Needs]] = field(default_factory=dict)
    is_parted: bool = False
    project: str = ""

    @property
    def is_external(self) -> bool:
        return self.kind == "Virtual"

    @property
    def upstreams(self) -> list[str]:
        """All that its query reads, in the order of its text."""
        needs = [need.up for needed in self.states.values() for need in needed]
        return [name for name in dict.fromkeys(needs) if not name.startswith("school")]

    @property
    def yaml(self) -> str:
        lines = [f"kind: {self.kind}"]
        lines += [f"period: {self.period}"] if self.period != "static" else []
        lines += ["granularity: week"] if self.kind == "Cumulative" else []
        lines += ["sub_partitions: {region: [cn, us]}"] if self.is_parted else []
        lines += [f"project: {self.project}"] if self.project else []
        if list(self.states) == ["completed"]:
            lines += ["depends_on:", *(f"  - {need.yaml}" for need in self.states["completed"])]
        elif self.states:
            lines.append("states:")
            for state, needed in self.states.items():
                lines += [f"  - entity_state: {state}", "    depends_on:", *(f"      - {need.yaml}" for need in needed)]
        return "\n".join(lines) + "\n"

    @property
    def sql(self) -> str:
        """A fingerprint of the entity, the business time, and all rows that it sees."""
        parts = [f"'{self.name}'"] + (["CAST(:biz_date AS STRING)"] if self.period != "static" else [])
        parts += [
            f"(SELECT array_join(array_sort(collect_list(CAST(v AS STRING))), ',') FROM {up})"  # noqa: S608 - names of its own
            for up in self.upstreams
        ]
        return f"SELECT sha1(concat_ws('|', {', '.join(parts)})) AS v\n"


@dataclass
class Generated:
    """`entities` in an order in which upstreams come first; `steps` are the external slices that arrive together."""

    seed: int
    entities: list[Made]
    steps: list[list[str]]

    @property
    def files(self) -> dict[str, str]:
        bodies = {f"{made.name}.sql": made.sql for made in self.entities if made.kind not in ("Virtual", "Project")}
        return {f"{made.name}.yaml": made.yaml for made in self.entities} | bodies


def days() -> list[str]:
    return [(START + timedelta(days=number)).isoformat() for number in range(DAYS)]


def generate(seed: int, computed: int, batches: int) -> Generated:
    chance = random.Random(seed)
    externals = [Made("clicks", "Virtual"), Made("sold", "Virtual", is_parted=chance.random() < 0.5)]
    entities = [*externals]
    if chance.random() < 0.4:
        entities.append(Made("countries", "Static", "static", {"completed": []}))
    has_project = chance.random() < 0.4
    if has_project:
        entities.append(Made("school", "Project", states={"completed": [Needs("clicks", "Set 0")]}))
    for number in range(computed):
        entities.append(_computed(f"t{number}", entities, chance, has_project=has_project))
    return Generated(seed, entities, _steps(externals, chance, batches))


def _computed(name: str, above: list[Made], chance: random.Random, *, has_project: bool) -> Made:
    tables = [made for made in above if made.kind != "Project"]
    if chance.random() < 0.2:
        external = chance.choice([made for made in tables if made.is_external])
        return Made(name, "TimeSeries", "day", {"completed": [Needs(external.name, "last_available")]})
    if chance.random() < 0.2:
        return _estimated(name, tables, chance)
    period: Period = "week" if chance.random() < 0.2 else "day"
    chosen = chance.sample(tables, min(len(tables), chance.choice((1, 1, 2))))
    needs = [_needs(up, period, chance) for up in chosen if not (period == "day" and up.period == "week")]
    needs = needs or [_needs(tables[0], period, chance)]
    if period == "day" and chance.random() < 0.2:
        needs.append(Needs(name, "Set -1"))
    kind = "Cumulative" if any("to_date" in need.offset for need in needs) else chance.choice(("TimeSeries", "Sliding"))
    in_project = has_project and chance.random() < 0.5
    return Made(
        name,
        kind if period == "day" else "TimeSeries",
        period,
        {"completed": needs},
        is_parted=period == "day" and chance.random() < 0.2,
        project="school" if in_project else "",
    )


def _estimated(name: str, tables: list[Made], chance: random.Random) -> Made:
    first, second = (chance.choice([made for made in tables if made.is_external]) for _ in range(2))
    needs = {
        "estimated": [Needs(first.name, "Set 0")],
        "completed": [Needs(first.name, "Set 0"), Needs(second.name, "Set -1,0")],
    }
    return Made(name, "TimeSeries", "day", needs)


def _needs(up: Made, period: Period, chance: random.Random) -> Needs:
    if up.period == "static":
        return Needs(up.name, "static")
    states = ("estimated", "completed") if "estimated" in up.states and chance.random() < 0.5 else ("completed",)
    weekly = "all" if up.period == "day" else "Set 0"
    offset = weekly if period == "week" else chance.choice(OFFSETS)
    weak = chance.choice(WEAK) if chance.random() < 0.3 else ""
    return Needs(up.name, offset, weak, states)


def _steps(externals: list[Made], chance: random.Random, batches: int) -> list[list[str]]:
    """All but a few of the slices, in so many batches."""
    slices = [
        f"{made.name}@{day}{part}"
        for made in externals
        for day in days()
        for part in ([f"/region={region}" for region in REGIONS] if made.is_parted else [""])
    ]
    chance.shuffle(slices)
    slices = slices[: len(slices) - chance.choice((0, 0, 1, 2))]
    cuts = sorted(chance.sample(range(1, len(slices)), batches - 1))
    return [slices[first:last] for first, last in zip([0, *cuts], [*cuts, len(slices)], strict=True)]
