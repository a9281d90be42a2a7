"""The played company's state and its agenda: actions at instants, executed in the order of time.

An action may change rows and put further actions on the agenda. Rows change through `insert`, `update` and `delete`
only, which keep the same state as the database will have: a change of a row that is not there is a bug and raises.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

from tests.components.workload import clock
from tests.components.workload.changes import Change, Operation, RowChange, SchemaChange, Settings, Value
from tests.components.workload.schema import COUPON_COLUMN, HEARTBEAT, KEYS, Instance, instance_of

if TYPE_CHECKING:
    import random

Action = Callable[[int], None]
Row = dict[str, Value]
_CATCH_UP_SECONDS = 900


@dataclass(frozen=True)
class Silence:
    """Nothing is written to these tables from `start` to `end` (instants); what was meant to be follows after it."""

    tables: frozenset[str]
    start: int
    end: int

    def covers(self, table: str | None, at: int) -> bool:
        return table in self.tables and self.start <= at < self.end

    def resume_time(self, at: int) -> int:
        """When something meant for the silence happens: the order is kept, all within a quarter of an hour."""
        return self.end + 1 + (at - self.start) * _CATCH_UP_SECONDS // (self.end - self.start)


def _silence(day: date, start: tuple[int, int], end: tuple[int, int], *tables: str) -> Silence:
    return Silence(frozenset(tables), clock.at_hour(day, *start), clock.at_hour(day, *end))


SILENCES = (
    _silence(date(2026, 3, 25), (10, 0), (17, 0), "orders_3"),
    _silence(date(2026, 3, 27), (8, 30), (15, 0), "lesson_attendance_1"),
    # All of instance b: for these hours its topic holds heartbeats only.
    _silence(
        date(2026, 3, 31), (9, 40), (16, 10), "orders_2", "orders_3", "lesson_attendance_2", "lesson_attendance_3"
    ),
)


@dataclass
class World:
    """State that moves on; deterministic from the settings' seed."""

    settings: Settings
    rng: random.Random
    rows: dict[str, dict[int, Row]] = field(default_factory=lambda: defaultdict(dict))
    engagement: dict[int, float] = field(default_factory=dict)
    registered_on: dict[int, date] = field(default_factory=dict)
    enrolled: dict[int, list[int]] = field(default_factory=dict)
    seats: dict[int, list[tuple[str, int]]] = field(default_factory=lambda: defaultdict(list))
    welcomed: set[int] = field(default_factory=set)
    with_coupon: set[str] = field(default_factory=set)
    now: int = 0
    _agenda: list[tuple[int, int, str | None, int, Action]] = field(default_factory=list)
    _changes: list[Change] = field(default_factory=list)
    _sequence: int = 0
    _ids: dict[str, int] = field(default_factory=dict)

    @property
    def scale(self) -> float:
        """1.0 = the full company."""
        return self.settings.changes_per_day / 18_500

    @property
    def days(self) -> list[date]:
        return clock.days(self.settings.first_day, self.settings.days)

    def new_id(self, name: str, first: int) -> int:
        """The next number of a sequence."""
        self._ids[name] = self._ids.get(name, first - 1) + 1
        return self._ids[name]

    def schedule(self, at: int, table: str | None, action: Action, meant_for: int | None = None) -> None:
        """Put an action that writes to `table` on the agenda; it is called with the instant that it was meant for."""
        self._sequence += 1
        entry = (max(at, self.now), self._sequence, table, at if meant_for is None else meant_for, action)
        heapq.heappush(self._agenda, entry)

    def run(self, end: int) -> Iterator[Change]:
        """Execute the agenda up to an instant (exclusive) and give the changes in the order of time."""
        while self._agenda and self._agenda[0][0] < end:
            at, _, table, meant_for, action = heapq.heappop(self._agenda)
            silence = next((silence for silence in SILENCES if silence.covers(table, at)), None)
            if silence is not None:
                self.schedule(silence.resume_time(at), table, action, meant_for)
                continue
            self.now = at
            action(meant_for)
            yield from self._changes
            self._changes.clear()

    def insert(self, table: str, row: Row) -> None:
        key = row[KEYS[table]]
        if not isinstance(key, int) or key in self.rows[table]:
            raise AssertionError(f"{table}: insert of key {key}, which is there already")
        stamped = self._with_time(row)
        self.rows[table][key] = stamped
        self._emit(table, "insert", key, stamped)

    def update(self, table: str, key: int, values: Row) -> None:
        """Change columns of a row; where nothing differs nothing happens, as in the binlog."""
        row = self.rows[table][key]
        stamped = self._with_time(values)
        changed = {column: value for column, value in stamped.items() if row[column] != value}
        if changed:
            row.update(changed)
            self._emit(table, "update", key, changed)

    def delete(self, table: str, key: int) -> Row:
        """Delete a row and give what it was."""
        row = self.rows[table].pop(key)
        self._emit(table, "delete", key, {})
        return row

    def beat(self, instance: Instance) -> None:
        """Write the instance's heartbeat row."""
        key = f"{HEARTBEAT}.{instance}"
        operation: Operation = "update" if self.rows[key] else "insert"
        values: Row = {"id": 1, "beat_at": clock.utc(self.now)}
        self.rows[key][1] = values
        changed = values if operation == "insert" else {"beat_at": values["beat_at"]}
        self._changes.append(RowChange(self.now, instance, HEARTBEAT, operation, 1, changed))

    def change_schema(self, instance: Instance, table: str | None, ddl: str) -> None:
        self._changes.append(SchemaChange(self.now, instance, table, ddl))

    def add_coupon_column(self, table: str, ddl: str) -> None:
        """Add the column to a table and to its rows."""
        for row in self.rows[table].values():
            row[COUPON_COLUMN] = None
        self.with_coupon.add(table)
        self.change_schema(instance_of(table), table, ddl)

    def _with_time(self, values: Row) -> Row:
        return {**values, "updated_at": clock.utc(self.now)}

    def _emit(self, table: str, operation: Operation, key: int, values: Row) -> None:
        self._changes.append(RowChange(self.now, instance_of(table), table, operation, key, dict(values)))
