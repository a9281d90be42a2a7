"""From slices that are ready to runs: which, where, together with which, and what to do when one fails.

A launch is written down with its run's id before anyone is asked to run it. Whoever starts again finds it written down,
and asks for the same run: the launcher takes an id once. So each generation of a slice is launched once, wherever the
process dies. Source: seed capabilities C1 and A6.
"""

from __future__ import annotations

import uuid
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from tidemark.center.errors import PoolError
from tidemark.center.fact import Fact
from tidemark.center.packing import Packing
from tidemark.center.pools import DEFAULT
from tidemark.dependency_model.errors import TransientError
from tidemark.dependency_model.status import Event, Life
from tidemark.state_store.transition import Facts
from tidemark.system.crash import crash_point

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from tidemark.center.center import DependencyCenter
    from tidemark.center.pools import Pools
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.reader import StateReader


class RunState(Enum):
    """What a launcher knows of a run."""

    UNKNOWN = "unknown"
    UNDER_WAY = "under way"
    ENDED = "ended"


class Launcher(Protocol):
    """Runs slices somewhere."""

    def launch(self, run_id: str, pieces: Sequence[Slice], pool: str) -> None:
        """Start one run of these slices; an id that was launched before changes nothing. Raises LaunchError."""

    def state(self, run_id: str) -> RunState:
        """What became of a run."""


@dataclass(frozen=True, slots=True)
class Policy:
    """`attempts` of a slice's generation before it is set aside; `wait` after a failure; `together` slices a run.

    Where more is ready than there is room for, a run also holds up to `across` entities at the same times.
    """

    attempts: int = 2
    wait: timedelta = timedelta(minutes=5)
    together: int = 31
    across: int = 1


class Dispatch:
    """Asks for the runs of one center."""

    def __init__(
        self,
        center: DependencyCenter,
        read: StateReader,
        launcher: Launcher,
        pools: Pools,
        *,
        policy: Policy | None = None,
        clock: Callable[[], datetime],
    ) -> None:
        self._center, self._read, self._launcher, self._pools = center, read, launcher, pools
        self._policy, self._clock = policy or Policy(), clock
        self._packing = Packing(center, pools, self._policy.together, self._policy.across)
        self._is_recovered = False
        self.misplaced: dict[str, PoolError] = {}
        """Entities that ask for a pool that there is not, as of the last step: theirs wait, others go on."""

    def step(self) -> int:
        """Launch what is ready, as far as there is room; returns the number of runs asked for."""
        if not self._is_recovered:
            self.recover()
        self.retry()
        busy, launched = self._busy(), 0
        self.misplaced = {}
        for group in self._packing.groups(busy):
            pool = self._pool_for(group[0], busy)
            if pool is not None and self._launch(group, pool):
                busy[pool] += 1
                launched += 1
        return launched

    def recover(self) -> None:
        """Ask again for launches that were written down and that the launcher knows nothing of."""
        runs: dict[tuple[str, str | None], list[Slice]] = {}
        for piece, (run_id, pool) in self._center.under_way().items():
            if run_id is not None and self._launcher.state(run_id) is RunState.UNKNOWN:
                runs.setdefault((run_id, pool), []).append(piece)
        for (run_id, pool), pieces in runs.items():
            # A run that was created and that nobody took has planned its slices already, which says that they run.
            waiting = [piece for piece in pieces if self._center.status(piece).life in (Life.LAUNCHED, Life.RUNNING)]
            if waiting:
                self._launcher.launch(run_id, waiting, pool or DEFAULT)
        self._is_recovered = True

    def retry(self) -> None:
        """Let failed slices try again whose time has come."""
        now = self._clock()
        due = [piece for piece in self._center.failed() if self._may_retry(piece, now)]
        facts = [
            Fact(f"retry:{piece}:{self._failures(piece)[1]}", piece, Event.RETRIED, now, "dispatch", "retry policy")
            for piece in due
        ]
        if facts:
            self._center.report(facts)

    def set_aside(self) -> list[Slice]:
        """Failed slices that are not tried again until someone says so (`retried`, or a backfill)."""
        return [piece for piece in self._center.failed() if self._failures(piece)[0] >= self._policy.attempts]

    def lost(self, run_id: str) -> None:
        """A run is gone without a word: what it had not finished is ready again."""
        now = self._clock()
        pieces = [piece for piece, (run, _) in self._center.under_way().items() if run == run_id]
        self._center.report(
            [
                Fact(f"lost:{run_id}:{piece}", piece, Event.LOST, now, "dispatch", data=Facts(run_id=run_id))
                for piece in pieces
            ]
        )

    def _pool_for(self, piece: Slice, busy: Counter[str]) -> str | None:
        try:
            return self._pools.choose(self._pools.allowed(self._center.graph.entity(piece.entity)), busy)
        except PoolError as error:
            self.misplaced[piece.entity] = error
            return None

    def _busy(self) -> Counter[str]:
        runs = {run: pool or DEFAULT for run, pool in self._center.under_way().values()}
        return Counter(runs.values())

    def _launch(self, group: Sequence[Slice], pool: str) -> bool:
        run_id = str(uuid.uuid4())
        crash_point("dispatch.chosen")
        pieces = self._center.launch(group, run_id, pool)
        crash_point("dispatch.noted")
        if not pieces:
            return False
        # Whatever happens meanwhile: it is asked for again at the next step, with the same id.
        is_recovered, self._is_recovered = self._is_recovered, False
        try:
            self._launcher.launch(run_id, pieces, pool)
        except TransientError:
            return False
        self._is_recovered = is_recovered
        crash_point("dispatch.launched")
        return True

    def _may_retry(self, piece: Slice, now: datetime) -> bool:
        failures, _, when = self._failures(piece)
        return failures < self._policy.attempts and when is not None and now >= when + self._policy.wait

    def _failures(self, piece: Slice) -> tuple[int, int, datetime | None]:
        """How often the slice's generation failed, and the last time: its transition's number and when."""
        history = self._read.history(piece)
        generation = history[-1].status.generation if history else 1
        failed = [one for one in history if one.event is Event.FAILED and one.status.generation == generation]
        return (len(failed), failed[-1].seq, failed[-1].record_time) if failed else (0, 0, None)
