"""As of: how fast it is told how the slices of a day stood at a past instant, over a long history of transitions.

4,500 slices a day, each with six transitions, stored day after day by the database itself; then, for instants in the
middle of the work of so many days that are spread over the whole history, the slices of that day as they stood:

    asof_ms        median of the instants, in milliseconds, statuses made and all
    asof_cpu_ms    median of this process's part, without waiting for the processor or the server
    asof_ms_most   the slowest
    explain_ms     one slice at such an instant, with what it had read: median
    transitions    how many are stored
    days, slices   of how many days, and slices of one of them
    differing      slices that stood otherwise by a replay of the day's transitions; 0 is right
    load_s         how long it took to store them
"""

from __future__ import annotations

import statistics
import tempfile
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sqlalchemy import text

from tidemark.catalog.slice_as_of import slice_as_of
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import RunState
from tidemark.state_store.past_states import states_at
from tidemark.state_store.store import StateStore
from tidemark.state_store.transition import microseconds
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

FIRST_DAY: Final = date(2025, 1, 1)
SLICES: Final = 4_500
ASKED: Final = 9
_LIVES: Final = ("ready", "launched", "running", "completed", "completed", "completed")
_EVENTS: Final = ("released", "launched", "started", "completed", "quality_passed", "kept")
_STEP: Final = timedelta(minutes=10)
_GAP: Final = timedelta(milliseconds=50)
_A_COMMIT: Final = 20


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--transitions", type=int, default=10_000_000, help="so many, in whole days")
    parser.add_argument("--url", default="", help="an empty PostgreSQL database; a SQLite file without it")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    days = max(1, round(arguments.transitions / SLICES / len(_EVENTS)))
    with tempfile.TemporaryDirectory() as folder:
        store = StateStore.of(Settings.at(Path(folder), **({"state": arguments.url} if arguments.url else {})))
        load = _timed(lambda: _store(store, days))
        asked = [_instant(number) for number in sorted({days * part // ASKED for part in range(ASKED)})]
        told = [_asked(store, *instant) for instant in asked]
        explained = [_explained(store, *instant) for instant in asked]
        store.close()
    return {
        "asof_ms": round(statistics.median(answer.wall for answer in told) * 1_000, 1),
        "asof_cpu_ms": round(statistics.median(answer.cpu for answer in told) * 1_000, 1),
        "asof_ms_most": round(max(answer.wall for answer in told) * 1_000, 1),
        "explain_ms": round(statistics.median(explained) * 1_000, 1),
        "transitions": days * SLICES * len(_EVENTS),
        "days": days,
        "slices": told[0].slices,
        "differing": sum(answer.differing for answer in told),
        "load_s": round(load, 1),
    }


def _instant(number: int) -> tuple[date, datetime]:
    """A day, and an instant when a half of its slices were completed."""
    day = FIRST_DAY + timedelta(days=number)
    return day, _begun(day) + 3 * _STEP + _GAP * (SLICES // 2)


def _begun(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1)


class _Answer(NamedTuple):
    """Seconds that it took, how many slices, and how many of them stand otherwise than a replay says."""

    wall: float
    cpu: float
    slices: int
    differing: int


def _asked(store: StateStore, day: date, when: datetime) -> _Answer:
    wall, cpu = time.perf_counter(), time.process_time()
    states = states_at(store.database, when, str(day), str(day + timedelta(days=1)))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    stood = {state.slice.entity: state.status.run_state for state in states}
    differing = sum(stood.get(name) is not state for name, state in _replayed(day, when).items())
    return _Answer(wall, cpu, len(states), differing)


def _explained(store: StateStore, day: date, when: datetime) -> float:
    return _timed(lambda: slice_as_of(store, Slice("e0007", str(day)), when))


def _replayed(day: date, when: datetime) -> dict[str, RunState]:
    """What was recorded of a day by an instant, one transition after the other."""
    stood: dict[str, RunState] = {}
    for step, life in enumerate(_LIVES):
        for number in range(SLICES):
            if _begun(day) + step * _STEP + number * _GAP <= when:
                stood[f"e{number:04}"] = RunState(life)
    return stood


def _store(store: StateStore, days: int) -> None:
    """Written by the database itself: millions of rows from here would take longer than all else."""
    is_sqlite = store.database.is_sqlite
    numbers = _SQLITE_NUMBERS if is_sqlite else _POSTGRES_NUMBERS
    name = "printf('e%04d', n % 4500)" if is_sqlite else "'e' || lpad((n % 4500)::text, 4, '0')"
    for first in range(0, days, _A_COMMIT):
        some = min(_A_COMMIT, days - first)
        with store.database.writing() as connection:
            for number in range(first, first + some):
                day = FIRST_DAY + timedelta(days=number)
                values = {"first": number * SLICES * len(_EVENTS), "begun": microseconds(_begun(day)), "day": str(day)}
                bound = {**values, "count": SLICES * len(_EVENTS)}
                connection.execute(text(_INSERT.format(numbers=numbers, name=name)), bound)
                connection.execute(text(_PROJECT.format(numbers=numbers, name=name)), {**values, "count": SLICES})
    with store.database.writing() as connection:
        connection.execute(text("ANALYZE"))


def _cases(values: tuple[str, ...]) -> str:
    return " ".join(f"WHEN {number} THEN '{value}'" for number, value in enumerate(values))


_SQLITE_NUMBERS: Final = (
    "WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < :count)"
)
_POSTGRES_NUMBERS: Final = "WITH numbers(n) AS (SELECT generate_series(0, CAST(:count AS bigint) - 1))"
_INSERT: Final = f"""
INSERT INTO transitions (seq, event_id, entity, key, sub, event, who, why, event_time, record_time, life, states,
    quality, issues, tainted, generation, run_id)
{{numbers}} SELECT :first + n + 1, CAST(:first + n + 1 AS VARCHAR), {{name}}, :day, '',
    CASE n / {SLICES} {_cases(_EVENTS)} END, 'benchmark', '', :begun + n, :begun
    + (n / {SLICES}) * CAST({_STEP // timedelta(microseconds=1)} AS BIGINT) + (n % {SLICES}) * 50000,
    CASE n / {SLICES} {_cases(_LIVES)} END, CASE WHEN n / {SLICES} >= 3 THEN 'completed' ELSE '' END,
    'passed', '', FALSE, 1, 'a run'
FROM numbers"""  # noqa: S608 - of words of ours
_PROJECT: Final = f"""
INSERT INTO slices (entity, key, sub, life, states, quality, issues, tainted, generation, seq, run_id)
{{numbers}} SELECT {{name}}, :day, '', 'completed', 'completed', 'passed', '', FALSE, 1, :first + {SLICES * 5} + n + 1,
    'a run' FROM numbers"""  # noqa: S608


def _timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun
