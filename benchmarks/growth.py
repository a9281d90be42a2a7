"""Growth: a center's store over a simulated year, in which every slice fails once and the past is compacted.

Each day every entity's slice becomes ready, is launched, fails, is tried again and completes; some fail for good. The
center's own upkeep runs once a day.

    year_mb         the SQLite store after the year, as it lies on disk
    store_rows      transitions in it then
    written_rows    transitions that were written in the year
    exhausted       slices whose retries are exhausted at the end
    step_ms_start   an idle step of the dispatch, median of a hundred, after the first month
    step_ms_end     the same after the year
    late_rows_kept  late changes of a table whose newest so many tags are kept, after as many days
    late_rows_year  the same after the year
    late_files_year their files then
"""

from __future__ import annotations

import statistics
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.late_year import measure_late
from tidemark.center.center import DependencyCenter
from tidemark.center.dispatch import DagsterRunState, Dispatch
from tidemark.center.fact import Fact
from tidemark.center.launch_policy import LaunchPolicy
from tidemark.center.pools import Pools
from tidemark.dependency_model.entity import parse_entity
from tidemark.dependency_model.graph import DependencyGraph
from tidemark.dependency_model.status import Event
from tidemark.state_store.compaction import compact
from tidemark.state_store.database import Database
from tidemark.state_store.store import StateStore
from tidemark.state_store.transition import Facts

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from tidemark.dependency_model.slice import Slice

_START: Final = datetime(2025, 1, 1, 2, tzinfo=UTC)
_MONTH: Final = 30
_STEPS: Final = 100


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--entities", type=int, default=20, help="of a slice a day")
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--history-days", type=int, default=90, help="TIDEMARK_HISTORY_DAYS")
    parser.add_argument("--keep-snapshots", type=int, default=90, help="of the table with late changes")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "state.db"
        year = _Year(arguments.entities, file)
        started = 0.0
        for day in range(arguments.days):
            year.day(day)
            year.upkeep(timedelta(days=arguments.history_days))
            if day == min(_MONTH, arguments.days - 1):
                started = year.step_ms()
        figure = {
            "store_rows": year.rows(),
            "written_rows": year.store.read.last(),
            "exhausted": len(year.dispatch.retries_exhausted()),
            "step_ms_start": started,
            "step_ms_end": year.step_ms(),
        }
        year.store.close()
        size = sum(path.stat().st_size for path in file.parent.iterdir())
        late = measure_late(Path(folder) / "lake", arguments.days, arguments.keep_snapshots)
    return {"year_mb": round(size / 1e6, 1), **figure, **late}


class _Year:
    """A center whose clock is set by hand, and the end of each run that it launches."""

    def __init__(self, entities: int, file: Path) -> None:
        text = "{period: day, start: '2025-01-01'}"
        graph = DependencyGraph.build([parse_entity(text, f"table_{number}") for number in range(entities)])
        self.now, self.store = _START, StateStore(Database.at(file))
        self._center = DependencyCenter(graph, self.store, since=_START, clock=lambda: self.now)
        self._launched: list[tuple[str, list[Slice]]] = []
        policy = LaunchPolicy(wait=timedelta(0), together=1)
        pools = Pools.parse(f"default={entities}")
        self.dispatch = Dispatch(self._center, self, pools, policy=policy, clock=lambda: self.now)

    def launch(self, run_id: str, slices: Sequence[Slice], pool: str, backfill: int | None = None) -> None:  # noqa: ARG002 - one pool
        self._launched.append((run_id, list(slices)))

    def state(self, run_id: str) -> DagsterRunState:
        return DagsterRunState.UNDER_WAY if run_id else DagsterRunState.UNKNOWN

    def day(self, number: int) -> None:
        """The slices of a day: each fails, and the second time one of twenty does again."""
        self.now = _START + timedelta(days=number + 1)
        self._center.tick()
        for attempt in range(2):
            self.dispatch.step()
            runs, self._launched = self._launched, []
            ends = [Event.FAILED if self._fails(number, at, attempt) else Event.COMPLETED for at in range(len(runs))]
            facts = [
                Fact(f"{run_id} {slice_} {end.value}", slice_, end, self.now, "figure", data=Facts(run_id=run_id))
                for (run_id, slices), end in zip(runs, ends, strict=True)
                for slice_ in slices
            ]
            self._center.report(facts, strict=True)
            self.now += timedelta(minutes=1)

    def upkeep(self, history: timedelta) -> None:
        compact(self.store.database, self.now - history)
        self._center.checkpoint()

    def step_ms(self) -> float:
        """An idle step, median."""
        taken = []
        for _ in range(_STEPS):
            begun = time.perf_counter()
            self.dispatch.step()
            taken.append((time.perf_counter() - begun) * 1000)
        return round(statistics.median(taken), 3)

    def rows(self) -> int:
        with self.store.database.reading() as connection:
            return int(connection.exec_driver_sql("SELECT count(*) FROM transitions").scalar() or 0)

    @staticmethod
    def _fails(day: int, at: int, attempt: int) -> bool:
        return attempt == 0 or (day + at) % 20 == 0
