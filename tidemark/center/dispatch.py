"""Turns ready slices into runs: pool, grouping, and retries.

A launch is stored with its run id before the run is requested. After a crash, the same run is requested again, and the
launcher accepts an id only once. So each generation of a slice is launched once. Source: seed capabilities C1 and A6.
"""

from __future__ import annotations

import uuid
from collections import Counter
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

from tidemark.center.errors import PoolError
from tidemark.center.fact import Fact
from tidemark.center.isolated_steps import IsolatedSteps
from tidemark.center.launch_order import MarginOrder
from tidemark.center.launch_policy import LaunchPolicy
from tidemark.center.outages import OUTAGES
from tidemark.center.pools import tag_of
from tidemark.center.run_grouping import RunGrouping, exact_part
from tidemark.center.typical_times import TypicalTimes
from tidemark.dependency_model.readiness.self_starting_slices import is_computed_here
from tidemark.dependency_model.status import Event, RunState
from tidemark.state_store.notes import PublishedNotes
from tidemark.state_store.place_waits import place_waits, waiting_name
from tidemark.state_store.transition import Facts
from tidemark.system.crash_points import crash_point
from tidemark.system.run_pools import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from tidemark.center.backfills import BackfillDriver
    from tidemark.center.center import DependencyCenter
    from tidemark.center.launch_order import LaunchOrder
    from tidemark.center.pools import Pools
    from tidemark.dependency_model.slice import Slice


TOGETHER: Final = 7
"""Most consecutive slices in a run of the service or the sensor: a week of days."""


class DagsterRunState(Enum):
    """The state of a run, as a launcher knows it."""

    UNKNOWN = "unknown"
    UNDER_WAY = "under way"
    ENDED = "ended"


class SliceLauncher(Protocol):
    """Runs slices."""

    def launch(self, run_id: str, slices: Sequence[Slice], pool: str, backfill: int | None = None) -> None:
        """Start one run of these slices; a known id changes nothing. Raises LaunchError.

        `backfill` is the number of their backfill.
        """

    def state(self, run_id: str) -> DagsterRunState:
        """The state of a run."""


class Dispatch:
    """Requests the runs of one center; if pools are full, by the margin of the promises behind slices."""

    def __init__(
        self,
        center: DependencyCenter,
        launcher: SliceLauncher,
        pools: Pools,
        *,
        policy: LaunchPolicy | None = None,
        order: LaunchOrder | None = None,
        clock: Callable[[], datetime],
        backfills: BackfillDriver | None = None,
        may_launch: Callable[[str], bool] = lambda _: True,
    ) -> None:
        """`may_launch`: whether this center computes an entity now (`center_fence.py`)."""
        self._center, self._launcher, self._pools, self._backfills = center, launcher, pools, backfills
        self._may_launch = may_launch
        self._policy, self._clock = policy or LaunchPolicy(), clock
        times = TypicalTimes(center.graph, center.store.database)
        self._grouping = RunGrouping(
            center, pools, order or MarginOrder(center, times, clock), self._policy.together, self._policy.across
        )
        self._is_recovered = False
        self._broke_off: set[str] = set()
        self.isolated = IsolatedSteps()
        """Errors of single launches in the last step."""
        self._passed_over = Counter[str]()
        """The number of runs of other slices since the last run of a backfill, by pool."""
        self.without_pool: dict[str, PoolError] = {}
        """Entities with an unknown pool in the last step: their slices wait."""
        self._waits: dict[str, str] = {}
        self._noted_waits = PublishedNotes(place_waits(center.store.database))

    def step(self) -> int:
        """Launch ready slices while there is room; returns the number of requested runs."""
        run = self.isolated.run
        self.isolated.begin()
        if not self._is_recovered:
            self.recover()
        run("retry", self.retry, None)
        if self._backfills:
            run("backfills", partial(self._backfills.step, self._is_exhausted), None)
        busy, rebuilding, launched = self._busy(), self._rebuilding(), 0
        self.without_pool, self._waits = {}, {}
        self._pools.places.look()
        groups = run("group", partial(self._grouping.groups, busy), None) or self._one_by_one()
        for group in self._in_turn(groups, rebuilding):
            launch = partial(self._launch_group, group, busy, rebuilding)
            launched += run(f"launch of {group[0]}", launch, otherwise=False)
        run("waits for places", partial(self._noted_waits.become, self._waits), None)
        return launched

    def _one_by_one(self) -> list[list[Slice]]:
        """Ready slices after an error of grouping: one run each."""
        held = self._center.backfills.is_held
        return [[slice_] for slice_ in self._center.ready() if not held(slice_)]

    def _are_ours(self, slices: Sequence[Slice]) -> bool:
        """Whether this center computes the flows of all these slices now."""
        return all(self._may_launch(name) for name in {slice_.entity for slice_ in slices})

    def _launch_group(self, group: Sequence[Slice], busy: Counter[str], rebuilding: Counter[str]) -> bool:
        """Launch a group if there is room, and take the room."""
        if not self._are_ours(group):
            return False
        backfill = self._center.backfills.number_of(group[0])
        has_share = backfill is not None and not self._grouping.is_promised(group)
        pool = self._pool_for(group[0], self._with_share_used(busy, rebuilding) if has_share else busy)
        if pool is None or not self._launch(group, pool, backfill):
            return False
        busy[pool] += 1
        rebuilding[pool] += backfill is not None
        self._passed_over[pool] = 0 if backfill is not None else self._passed_over[pool] + 1
        return True

    def begin_anew(self) -> None:
        """The next step requests launches again that the launcher does not know."""
        self._is_recovered = False

    def recover(self) -> None:
        """Request stored launches again that the launcher does not know.

        Reported runs of others are not requested: the center requests only its own runs.
        """
        runs: dict[tuple[str, str | None], list[Slice]] = {}
        for slice_, launch in self._center.launched_slices().items():
            runs.setdefault(launch, []).append(slice_)
        asked = [
            self.isolated.run(f"recovery of {slices[0]}", partial(self._recover, run_id, pool, slices), otherwise=False)
            for (run_id, pool), slices in runs.items()
        ]
        self._is_recovered = all(asked)

    def _recover(self, run_id: str, pool: str | None, slices: Sequence[Slice]) -> bool:
        """Request a run again if the launcher does not know it; returns whether this is settled."""
        if self._launcher.state(run_id) is not DagsterRunState.UNKNOWN:
            return True
        # A created run without a worker has planned its slices, so they count as running.
        waiting = [
            slice_
            for slice_ in slices
            if self._center.status(slice_).run_state in (RunState.LAUNCHED, RunState.RUNNING)
        ]
        graph = self._center.graph
        here = [slice_ for slice_ in waiting if is_computed_here(graph, slice_)]
        if not self._are_ours(here):
            return False
        gone = "the project does not have it any more, or does not compute it"
        self._give_back([slice_ for slice_ in waiting if slice_ not in here], gone)
        here = self._exact(sorted(here, key=lambda slice_: (slice_.entity, graph.window(slice_).start)))
        return not here or self._ask(run_id, here, pool or DEFAULT, self._center.backfills.number_of(here[0]))

    def _exact(self, slices: Sequence[Slice]) -> list[Slice]:
        """Slices of a stored run that one run can compute exactly; the others become ready again."""
        exact = exact_part(self._center.graph, slices) if slices else []
        rest = [slice_ for slice_ in slices if slice_ not in exact]
        self._give_back(rest, "one run cannot compute it with its neighbours only")
        return exact

    def _give_back(self, slices: Sequence[Slice], why: str) -> None:
        """Return slices whose stored run was never requested."""
        now, runs = self._clock(), self._center.launched_slices()
        ids = {slice_: f"given back:{runs[slice_][0]}:{slice_}" for slice_ in slices if slice_ in runs}
        if ids:
            self._center.report([Fact(ids[slice_], slice_, Event.LOST, now, "dispatch", why) for slice_ in ids])

    def retry(self) -> None:
        """Retry failed slices whose time has come."""
        now = self._clock()
        unreadable = self._center.unreadable()
        failed = [slice_ for slice_ in self._center.failed_slices() if slice_ not in unreadable]
        due = [slice_ for slice_ in failed if self._may_retry(slice_, now)]
        facts = [
            Fact(f"retry:{slice_}:{failures.seq}", slice_, Event.RETRIED, now, "dispatch", "retry policy")
            for slice_ in due
            if (failures := self._center.failures(slice_))
        ]
        if facts:
            self._center.report(facts)

    def retries_exhausted(self) -> list[Slice]:
        """Failed slices that wait for a request (`retried`, or a backfill)."""
        return [slice_ for slice_ in self._center.failed_slices() if self._is_exhausted(slice_)]

    def _in_turn(self, groups: list[list[Slice]], rebuilding: Counter[str]) -> list[list[Slice]]:
        """The same order, but a backfill that was passed over as often as its pools have slots comes first."""
        first: dict[str, list[Slice]] = {}
        for group in groups:
            if self._center.backfills.number_of(group[0]) is not None:
                first.setdefault(tag_of(self._center.graph.entity(group[0].entity)), group)
        waits = {pool for tag in first for pool in self._pools.known_pools(tag)}
        self._passed_over = Counter({pool: count for pool, count in self._passed_over.items() if pool in waits})
        passed_over = [group for tag, group in first.items() if self._is_passed_over(tag, rebuilding)]
        return [*passed_over, *(group for group in groups if group not in passed_over)]

    def _is_passed_over(self, tag: str, rebuilding: Counter[str]) -> bool:
        """Whether no run of a backfill is in the pools of a tag, and each slot has had a run of other slices since."""
        pools = self._pools.known_pools(tag)
        if any(rebuilding[pool] for pool in pools):
            return False
        return sum(self._passed_over[pool] for pool in pools) >= self._pools.slots(tag)

    def _pool_for(self, slice_: Slice, busy: Counter[str]) -> str | None:
        entity = self._center.graph.entity(slice_.entity)
        try:
            pool = self._pools.choose(self._pools.fitting_pools(entity, slice_), busy)
            why = self._pools.why_none(entity, slice_, busy) if pool is None else ""
        except PoolError as error:
            self.without_pool[slice_.entity] = error
            pool, why = None, str(error)
        if why:
            self._waits[waiting_name(slice_)] = why
        return pool

    def _busy(self) -> Counter[str]:
        runs = {run: pool or DEFAULT for run, pool in self._center.launched_slices().values()}
        return Counter(runs.values())

    def _rebuilding(self) -> Counter[str]:
        """Runs of backfills by pool."""
        launched = self._center.launched_slices().items()
        backfill_of = self._center.backfills.number_of
        runs = {run: pool or DEFAULT for slice_, (run, pool) in launched if backfill_of(slice_) is not None}
        return Counter(runs.values())

    def _with_share_used(self, busy: Counter[str], rebuilding: Counter[str]) -> Counter[str]:
        """Pools in which backfills have used their share are full for them."""
        capacity = self._pools.capacity
        share = {name: max(1, int(count * self._policy.backfill_share)) for name, count in capacity.items()}
        full = {name: capacity[name] for name in capacity if rebuilding[name] >= share[name]}
        return Counter({**busy, **full})

    def _launch(self, group: Sequence[Slice], pool: str, backfill: int | None) -> bool:
        run_id = str(uuid.uuid4())
        crash_point("dispatch.chosen")
        noted = self._center.launch(group, run_id, pool)
        crash_point("dispatch.noted")
        if not noted:
            return False
        slices = self._exact(noted)
        # After any error, the same id is requested at the next step.
        is_recovered, self._is_recovered = self._is_recovered, False
        if not self._ask(run_id, slices, pool, backfill):
            return False
        self._is_recovered = is_recovered
        if self._center.status(slices[0]).run_state is RunState.FAILED:
            return False
        self._center.latency.note_launch(slices)
        crash_point("dispatch.launched")
        return True

    def _ask(self, run_id: str, slices: Sequence[Slice], pool: str, backfill: int | None) -> bool:
        """Ask the launcher for a run; returns whether this is settled.

        A launcher without room is asked again. After another error it is asked once more with the same id, because the
        run may have started. If that fails too and it does not know the run, the slices have failed, and the retry
        policy decides.
        """
        try:
            self._launcher.launch(run_id, slices, pool, backfill)
        except OUTAGES as error:
            self.isolated.note(f"launch of {slices[0]}", error)
            return False
        except Exception as error:  # noqa: BLE001 - whatever it is, it fails this launch alone
            self.isolated.note(f"launch of {slices[0]}", error)
            if run_id not in self._broke_off:
                self._broke_off.add(run_id)
                return False
            if self._launcher.state(run_id) is DagsterRunState.UNKNOWN:
                self._fail(run_id, slices, error)
        self._broke_off.discard(run_id)
        return True

    def _fail(self, run_id: str, slices: Sequence[Slice], error: Exception) -> None:
        """The run could not be started: report this for each slice."""
        now, why = self._clock(), f"its run could not be started: {type(error).__name__}: {error}"[:1_000]
        data = Facts(run_id=run_id)
        self._center.report(
            [
                Fact(f"not started:{run_id}:{slice_}", slice_, Event.FAILED, now, "dispatch", why, data=data)
                for slice_ in slices
            ]
        )

    def _may_retry(self, slice_: Slice, now: datetime) -> bool:
        failures = self._center.failures(slice_)
        due = self._policy.tried_again_at(failures) if failures else None
        return due is not None and now >= due

    def _is_exhausted(self, slice_: Slice) -> bool:
        failures = self._center.failures(slice_)
        return failures is not None and self._policy.tried_again_at(failures) is None
