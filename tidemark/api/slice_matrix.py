"""The slices of many entities over business time: `GET /v1/matrix` and the console's page *Slices* (capability D7).

A column is an hour, day, month or year of business time, in each entity's own zone (hours: the same instants for all).
A slice stands in the column in which its window begins. A cell shows the worst of its slices.
"""

from __future__ import annotations

from datetime import UTC, datetime
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
    from tidemark.dependency_model.time.window import Window

MOST_COLUMNS: Final = 62
_MOST_ROWS: Final = 100
_MOST_SLICES: Final = 20_000
"""An answer reads at most this number of states. Slices are counted before they are listed."""
TO_COME: Final = "to come"
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
    entity, graph = node.entity, stands.warehouse.graph
    placed = [(number, node.slice(ordinal, sub)) for number, sub, ordinals in stretches for ordinal in ordinals]
    currents = stands.store.read.currents([slice_ for _, slice_ in placed]) if stands.store else []
    statuses = {current.slice: current.status for current in currents}
    cells: list[MatrixCellModel | None] = [None] * count
    for number, slice_ in placed:
        status, window = statuses.get(slice_, SliceStatus()), graph.window(slice_)
        state, flags = _state(status, window, stands.now), _flags(entity, status, window, stands.now)
        cells[number] = _joined(cells[number], state, str(slice_), flags)
    period = entity.period.value if entity.period else ""
    return MatrixRowModel(entity=entity.name, layer=entity.layer, owner=entity.owner, period=period, cells=cells)


def _state(status: SliceStatus, window: Window, now: datetime) -> str:
    is_open = status.run_state is RunState.WAITING and window.end > now.astimezone(UTC)
    return TO_COME if is_open else status.run_state.value


def _flags(entity: Entity, status: SliceStatus, window: Window, now: datetime) -> list[str]:
    promised = ready_by(entity, window)
    flags = {
        "invalid": bool(status.issues),
        "tainted": status.tainted,
        "foreign": FOREIGN in status.states,
        "partial": PARTIAL in status.states,
        "late": promised is not None and promised < now and status.run_state is not RunState.COMPLETED,
    }
    return [name for name, has_it in flags.items() if has_it]


def _joined(cell: MatrixCellModel | None, state: str, slice_: str, flags: Sequence[str]) -> MatrixCellModel:
    """The cell with one more slice."""
    completed = int(state == RunState.COMPLETED.value)
    if cell is None:
        return MatrixCellModel(state=state, slices=1, completed=completed, slice=slice_, flags=list(flags))
    is_worse = _WORST_FIRST.index(state) < _WORST_FIRST.index(cell.state)
    shows_it = is_worse or (bool(flags) and not cell.flags)
    return MatrixCellModel(
        state=state if is_worse else cell.state,
        slices=cell.slices + 1,
        completed=cell.completed + completed,
        slice=slice_ if shows_it else cell.slice,
        flags=[*cell.flags, *(flag for flag in flags if flag not in cell.flags)],
    )
