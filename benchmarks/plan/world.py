"""A project of many entities that were all computed, and one query of it that is changed afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Final, Self

from tidemark.catalog.code_plan import CodePlan, code_plan
from tidemark.console.rebuild_cost import rebuild_cost
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, Quality, RunState, SliceStatus
from tidemark.state_store.code_registry import CodeRegistry
from tidemark.state_store.store import StateStore
from tidemark.state_store.transition import Facts, Transition
from tidemark.system.project_root import DECLARATIONS, PROJECT_FILE
from tidemark.system.settings import Settings
from tidemark.warehouse.code_version import entity_code
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FIRST_DAY: Final = date(2026, 1, 1)
NOW: Final = datetime(2026, 6, 1, tzinfo=UTC)
CHANGED: Final = "t_0001"
_WIDTH: Final = 100


@dataclass(frozen=True)
class PlanWorld:
    """`entities` tables `t_0000`, ...: each reads the column x of the one above it, and y of that one's neighbour."""

    folder: Path
    entities: int

    @classmethod
    def make(cls, folder: Path, entities: int, days: int) -> Self:
        """Declared, and each computed for so many days."""
        world = cls(folder, entities)
        (folder / PROJECT_FILE).write_text("time_zone: UTC\n")
        layer = folder / DECLARATIONS / "dwd"
        layer.mkdir(parents=True)
        (folder / "data").mkdir()
        for number in range(entities):
            (layer / f"{_name(number)}.yaml").write_text(f"period: day\nstart: {FIRST_DAY}\nowner: a@b.example\n")
            (layer / f"{_name(number)}.sql").write_text(_query(number))
        world._compute(days)
        return world

    def change(self) -> None:
        """Another expression of the column x of one table."""
        path = self.folder / DECLARATIONS / "dwd" / f"{CHANGED}.sql"
        path.write_text(path.read_text().replace("AS x", "+ 1 AS x"))

    def touched(self) -> set[str]:
        """The tables that use that column, over any number of steps: the slow way."""
        reached = {int(CHANGED[2:])}
        for number in range(self.entities):
            if number >= _WIDTH and number - _WIDTH in reached:
                reached.add(number)
        return {_name(number) for number in reached} - {CHANGED}

    def plan(self) -> CodePlan:
        """What `tidemark plan` does."""
        warehouse = load_warehouse(self._settings, broken={})
        store = StateStore.of(warehouse.settings)
        told = code_plan(warehouse, CodeRegistry(store.database), store.read, NOW)
        rebuild_cost(warehouse, store.database, told.slices, NOW)
        store.close()
        return told

    @property
    def _settings(self) -> Settings:
        return Settings.at(self.folder / "data", root=self.folder)

    def _compute(self, days: int) -> None:
        warehouse = load_warehouse(self._settings)
        store = StateStore.of(warehouse.settings)
        for name in sorted(warehouse.queries):
            code = entity_code(warehouse, warehouse.entities[name], warehouse.columns.outside)
            facts = Facts(run_id="r", code=code.id, code_content=code.to_json())
            last = store.read.last()
            store.write.append(list(_transitions(name, days, last, facts)), after=last)
        store.close()


def _transitions(name: str, days: int, last: int, facts: Facts) -> Iterator[Transition]:
    for number in range(days):
        day = FIRST_DAY + timedelta(days=number)
        begun = datetime(day.year, day.month, day.day, 1, tzinfo=UTC)
        for step, (event, state, after) in enumerate(_LIFE):
            seq = last + 1 + number * len(_LIFE) + step
            when = begun + timedelta(seconds=after)
            told = facts if event is Event.COMPLETED else Facts()
            slice_ = Slice(name, day.isoformat())
            yield Transition(seq, f"{seq}", slice_, event, state, "benchmark", "", when, when, told)


_LIFE: Final = (
    (Event.STARTED, SliceStatus(RunState.RUNNING), 0),
    (Event.COMPLETED, SliceStatus(RunState.COMPLETED, frozenset({"completed"}), Quality.PASSED), 40),
)


def _name(number: int) -> str:
    return f"t_{number:04}"


def _query(number: int) -> str:
    if number < _WIDTH:
        return f"SELECT {number} AS x, {number} * 2 AS y, 'a' AS s -- the first\n"
    above = _name(number - _WIDTH)
    beside = _name(number - _WIDTH + (1 if (number + 1) % _WIDTH else 0))
    return (
        f"SELECT a.x AS x, b.y AS y, upper(a.s) AS s\nFROM {above} a JOIN {beside} b ON a.s = b.s"
        f" AND b.dt = :biz_date\nWHERE a.dt = :biz_date\n"
    )
