"""The slices of many entities over business time: `GET /v1/matrix` and the console's page *Slices* (capability D7).

A column is an hour, day, month or year of business time, in each entity's own zone (hours: the same instants for all).
A slice stands in the column in which its window begins. A cell shows the worst of its slices.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel

from tidemark.dependency_model.readiness.earliest_time import ready_by
from tidemark.dependency_model.status import RunState, SliceStatus
from tidemark.dependency_model.status.slice_status import FOREIGN, PARTIAL
from tidemark.dependency_model.time.local_calendar import Calendar
from tidemark.dependency_model.time.period import Period
from tidemark.dependency_model.time.window import seconds_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tidemark.api.warehouse_status import WarehouseStatus
    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.entity.sub_partition import Sub
    from tidemark.dependency_model.graph.node import Node
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.time.grid import Grid

MOST_COLUMNS: Final = 62
_MOST_ROWS: Final = 100
_MOST_SLICES: Final = 20_000
"""An answer reads at most this number of states. Slices are counted before they are listed."""
TO_COME: Final = "to come"
_WITHOUT_EVENTS: Final = SliceStatus()
_WORST_FIRST: Final = (
    *(state.value for state in (RunState.FAILED, RunState.ABSENT, RunState.RUNNING, RunState.LAUNCHED, RunState.READY)),
    *(RunState.WAITING.value, TO_COME, RunState.COMPLETED.value),
)


class MatrixColumns(Enum):
    """What a column is."""

    HOUR = "hour"
    DAY = "day"
    MONTH = "month"
    YEAR = "year"

    @property
    def period(self) -> Period:
        """The period of a column."""
        return Period(self.value)


class MatrixCellModel(BaseModel):
    """The slices of an entity in a column: `completed` of `slices`.

    `state` is the worst of their states, `to come` while the window is open. `slice` is one with this state or with a
    flag, `flags` are those of all: invalid, tainted, foreign, partial, late.
    """

    state: str
    slices: int
    completed: int
    slice: str
    flags: list[str]


class MatrixRowModel(BaseModel):
    """One entity; a cell is null if no slice begins in its column."""

    entity: str
    layer: str
    owner: str
    period: str
    cells: list[MatrixCellModel | None]


class SliceMatrixModel(BaseModel):
    """The first of the `found` entities that match, upstream before downstream, and the keys of the columns.

    `too_fine` are entities that have too many slices in these columns to be shown.
    """

    now: datetime
    by: str
    columns: list[str]
    found: int
    rows: list[MatrixRowModel]
    too_fine: list[str]


def slice_matrix(
    stands: WarehouseStatus, search: str, by: MatrixColumns, until: str | None, count: int
) -> SliceMatrixModel:
    """The matrix of the entities whose name, layer, owner or tags have all words of `search`.

    `until` is the key of the last column, by default the present one. Raises ParseError and StateStoreDownError.
    """
    graph = stands.warehouse.graph
    calendar = Calendar(stands.warehouse.settings.time_zone)
    grid = calendar.grid(by.period)
    last = grid.at(seconds_of(stands.now)) if until is None else grid.ordinal(until)
    columns = [grid.key(ordinal) for ordinal in range(max(grid.first, last - count + 1), last + 1)]
    words = search.casefold().split()
    nodes = [node for node in map(graph.node, graph.topological()) if node.grid and _matches(node.entity, words)]
    rows, too_fine, left = list[MatrixRowModel](), list[str](), _MOST_SLICES
    for node in nodes[:_MOST_ROWS]:
        stretches = list(_stretches(node, by, columns, calendar))
        count = sum(len(ordinals) for _, _, ordinals in stretches)
        if count > _MOST_SLICES:
            too_fine.append(node.name)
            continue
        if count > left:
            break
        left -= count
        rows.append(_row(stands, node, stretches, len(columns)))
    return SliceMatrixModel(
        now=stands.now, by=by.value, columns=columns, found=len(nodes), rows=rows, too_fine=too_fine
    )


def _matches(entity: Entity, words: Sequence[str]) -> bool:
    tags = (f"{name}={value}" for name, value in entity.tags.items())
    text = " ".join((entity.name, entity.layer, entity.owner, *tags)).casefold()
    return not entity.is_project and all(word in text for word in words)


def _stretches(
    node: Node, by: MatrixColumns, columns: Sequence[str], calendar: Calendar
) -> Iterator[tuple[int, Sub, range]]:
    """The numbers of the slices of a sub-partition that begin in a column, with the number of the column."""
    for sub in node.subs:
        grid, existing = node.grid_of(sub), node.existing_of(sub)
        if grid is None:
            continue
        own = calendar if by is MatrixColumns.HOUR else node.calendar_of(sub)
        for number, key in enumerate(columns):
            column = own.window(by.period, key)
            begin, end = (grid.at(seconds_of(instant)) for instant in (column.start, column.end))
            first = begin if grid.window(begin).start >= column.start else begin + 1
            stop = end if grid.window(end).start >= column.end else end + 1
            yield number, sub, range(max(first, existing.start), min(stop, existing.stop))


def _row(
    stands: WarehouseStatus, node: Node, stretches: Sequence[tuple[int, Sub, range]], count: int
) -> MatrixRowModel:
    entity = node.entity
    named = [
        (number, sub, ordinals, [node.slice(ordinal, sub) for ordinal in ordinals])
        for number, sub, ordinals in stretches
    ]
    slices = [slice_ for *_, in_column in named for slice_ in in_column]
    currents = stands.store.read.currents(slices) if stands.store else []
    statuses = {current.slice: current.status for current in currents}
    cells: list[_Cell | None] = [None] * count
    for number, sub, ordinals, in_column in named:
        grid = node.grid_of(sub)
        if grid is None:
            continue
        first_open = grid.at(seconds_of(stands.now))
        for ordinal, slice_ in zip(ordinals, in_column, strict=True):
            status = statuses.get(slice_, _WITHOUT_EVENTS)
            is_to_come = status.run_state is RunState.WAITING and ordinal >= first_open
            flags = _flags(status)
            if _is_late(entity, status, grid, ordinal, stands.now):
                flags.append("late")
            state = TO_COME if is_to_come else status.run_state.value
            cell = cells[number] = cells[number] or _Cell(state, slice_)
            cell.add(state, slice_, flags)
    period = entity.period.value if entity.period else ""
    shown = [None if cell is None else cell.model() for cell in cells]
    return MatrixRowModel(entity=entity.name, layer=entity.layer, owner=entity.owner, period=period, cells=shown)


def _flags(status: SliceStatus) -> list[str]:
    if not (status.issues or status.tainted or status.states):
        return []
    flags = {
        "invalid": bool(status.issues),
        "tainted": status.tainted,
        "foreign": FOREIGN in status.states,
        "partial": PARTIAL in status.states,
    }
    return [name for name, has_it in flags.items() if has_it]


def _is_late(entity: Entity, status: SliceStatus, grid: Grid, ordinal: int, now: datetime) -> bool:
    if entity.ready_by is None or status.run_state is RunState.COMPLETED:
        return False
    promised = ready_by(entity, grid.window(ordinal))
    return promised is not None and promised < now


@dataclass(slots=True)
class _Cell:
    """The slices of a column so far."""

    state: str
    slice: Slice
    slices: int = 0
    completed: int = 0
    flags: list[str] = field(default_factory=list)

    def add(self, state: str, slice_: Slice, flags: Sequence[str]) -> None:
        """Count one more slice; show it if it is worse, or the first one with a flag."""
        is_worse = state != self.state and _WORST_FIRST.index(state) < _WORST_FIRST.index(self.state)
        if is_worse or (flags and not self.flags):
            self.slice = slice_
        if is_worse:
            self.state = state
        self.slices += 1
        self.completed += state == RunState.COMPLETED.value
        self.flags += [flag for flag in flags if flag not in self.flags]

    def model(self) -> MatrixCellModel:
        return MatrixCellModel(
            state=self.state, slices=self.slices, completed=self.completed, slice=str(self.slice), flags=self.flags
        )
