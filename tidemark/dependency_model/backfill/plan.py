"""The plan of a backfill: exactly the slices to rebuild, each after its inputs.

Dagster's own backfill follows time windows of the chosen assets. This one follows the exact offsets over any number of
steps, also along chains of an entity's own slices. It leaves out slices that were built from other inputs.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.entity.dependency import COMPLETED
from tidemark.dependency_model.entity.entity import Reprocess
from tidemark.dependency_model.readiness.self_starting_slices import is_scheduled
from tidemark.dependency_model.status.slice_status import RunState, SliceStatus

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from tidemark.dependency_model.graph.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status.consequence import KnownStatuses

    Reads = Mapping[Slice, Sequence[tuple[Slice, int]] | None]
    Inputs = Mapping[Slice, tuple[dict[Slice, None], frozenset[Slice]]]

_UNKNOWN: Final = SliceStatus()
_HOLDS_NOTHING: Final = frozenset({RunState.WAITING, RunState.READY})


@dataclass(frozen=True, slots=True)
class Member:
    """A slice of a plan. `inputs` are the members that it reads, `needed` the inputs that it requires.

    A person asked for a `root`. A `given` slice is not computed here: its data stays, and its readers are rebuilt. A
    slice with `after` is rebuilt by a run outside this backfill, and is done once its generation is later than `after`.
    `wave` counts from 0: the longest path from a slice that reads no other member. The policy of a `decided` slice is a
    person's answer.
    """

    slice: Slice
    policy: Reprocess
    inputs: tuple[Slice, ...] = ()
    needed: frozenset[Slice] = frozenset()
    is_root: bool = False
    is_given: bool = False
    after: int | None = None
    wave: int = 0
    is_decided: bool = False


@dataclass(frozen=True)
class BackfillPlan:
    """Members in an order in which each follows its inputs."""

    members: Mapping[Slice, Member]

    @cached_property
    def waves(self) -> tuple[tuple[Slice, ...], ...]:
        """The slices by wave. Slices of one wave do not read each other."""
        by_wave: dict[int, list[Slice]] = {}
        for member in self.members.values():
            by_wave.setdefault(member.wave, []).append(member.slice)
        return tuple(tuple(by_wave[wave]) for wave in sorted(by_wave))

    @cached_property
    def rebuilt(self) -> tuple[Slice, ...]:
        """The slices that runs compute, unless a policy stops the backfill early.

        Given slices and kept ones are left out.
        """
        return tuple(
            member.slice for member in self.members.values() if not member.is_given and not self._is_kept(member)
        )

    @staticmethod
    def _is_kept(member: Member) -> bool:
        return member.policy is Reprocess.NEVER and not member.is_root


def plan_backfill(
    graph: DependencyGraph, roots: Iterable[Slice], downstream: Iterable[Slice], known: KnownStatuses, reads: Reads
) -> BackfillPlan:
    """The plan for roots and all slices downstream of them in the graph.

    Downstream slices without data are not members: they read their inputs when they first run. `reads` has the recorded
    inputs of each slice's last run. With `last_available` it leaves out a slice that could have read an older input of
    the plan and read another one.
    """
    asked = dict.fromkeys(roots)
    there = [slice_ for slice_ in downstream if slice_ not in asked and _is_rebuildable(graph, slice_, known)]
    candidates = dict.fromkeys((*asked, *there))
    older = _by_place(candidates)
    inputs = {slice_: _inputs(graph, slice_, candidates, older, reads.get(slice_)) for slice_ in candidates}
    return BackfillPlan(_in_order(graph, asked, _reached(graph, asked, inputs), inputs))


def plan_on(graph: DependencyGraph, plan: BackfillPlan) -> BackfillPlan:
    """The same members in the same order, with the inputs and the policy that a changed graph gives them.

    Members that are no longer in the graph have no inputs and no readers.
    """
    there = {slice_: None for slice_ in plan.members if graph.has(slice_)}
    older = _by_place(there)
    members = {}
    for slice_, member in plan.members.items():
        if slice_ not in there:
            members[slice_] = replace(member, inputs=(), needed=frozenset())
            continue
        read, needed = _inputs(graph, slice_, there, older, [(used, 0) for used in member.inputs])
        policy = member.policy if member.is_decided else graph.entity(slice_.entity).reprocess
        members[slice_] = replace(member, policy=policy, inputs=tuple(read), needed=needed)
    return BackfillPlan(members)


def _is_rebuildable(graph: DependencyGraph, slice_: Slice, known: KnownStatuses) -> bool:
    """Whether the slice has data, or its run does not start by itself, and this project computes it."""
    status = known.get(slice_) or _UNKNOWN
    is_there = status.run_state not in _HOLDS_NOTHING or bool(status.states)
    return is_there and is_scheduled(graph.entity(slice_.entity))


def _by_place(slices: Iterable[Slice]) -> dict[tuple[str, object], list[Slice]]:
    places: dict[tuple[str, object], list[Slice]] = {}
    for slice_ in slices:
        places.setdefault((slice_.entity, slice_.sub), []).append(slice_)
    return places


def _inputs(
    graph: DependencyGraph,
    slice_: Slice,
    candidates: Container[Slice],
    older: Mapping[tuple[str, object], Sequence[Slice]],
    told: Sequence[tuple[Slice, int]] | None,
) -> tuple[dict[Slice, None], frozenset[Slice]]:
    """The candidates that a slice reads, and the subset that it requires."""
    read: dict[Slice, None] = {}
    needed: set[Slice] = set()
    for state in graph.entity(slice_.entity).state_names or (COMPLETED,):
        for requirement in graph.requirements(slice_, state):
            if requirement.or_older:
                own = _older(graph, slice_, requirement.slices, older, told)
            else:
                own = [used for used in requirement.slices if used in candidates and used != slice_]
            read.update(dict.fromkeys(own))
            if requirement.dependency.weak is None and not requirement.or_older:
                needed.update(own)
    return read, frozenset(needed)


def _older(
    graph: DependencyGraph,
    slice_: Slice,
    named: Iterable[Slice],
    older: Mapping[tuple[str, object], Sequence[Slice]],
    told: Sequence[tuple[Slice, int]] | None,
) -> list[Slice]:
    """The older slices that the run read.

    If its inputs were not recorded: all older slices that it could have read.
    """
    was_read = None if told is None else {read for read, _ in told}

    def would_do(other: Slice, until: datetime) -> bool:
        is_read = was_read is None or other in was_read
        return is_read and other != slice_ and graph.window(other).start <= until

    return [
        other
        for last in named
        for other in older.get((last.entity, last.sub), ())
        if would_do(other, graph.window(last).start)
    ]


def _reached(graph: DependencyGraph, asked: Mapping[Slice, None], inputs: Inputs) -> set[Slice]:
    """The slices that are reachable from the roots without passing a slice whose policy keeps it."""
    users: dict[Slice, list[Slice]] = {}
    for slice_, (read, _) in inputs.items():
        for used in read:
            users.setdefault(used, []).append(slice_)
    reached, waiting = set(asked), deque(asked)
    while waiting:
        slice_ = waiting.popleft()
        if slice_ not in asked and graph.entity(slice_.entity).reprocess is Reprocess.NEVER:
            continue
        new = [user for user in users.get(slice_, ()) if user not in reached]
        reached.update(new)
        waiting.extend(new)
    return reached


def _in_order(
    graph: DependencyGraph, asked: Mapping[Slice, None], reached: set[Slice], inputs: Inputs
) -> dict[Slice, Member]:
    """Members, each after its inputs. Within a wave they keep the order in which they were found."""
    own = {
        slice_: tuple(used for used in inputs[slice_][0] if used in reached) for slice_ in inputs if slice_ in reached
    }
    waves: dict[Slice, int] = {}
    for slice_ in _sorted(own):
        waves[slice_] = max((waves[used] + 1 for used in own[slice_]), default=0)
    place = {slice_: at for at, slice_ in enumerate(own)}
    return {
        slice_: Member(
            slice_,
            graph.entity(slice_.entity).reprocess,
            own[slice_],
            inputs[slice_][1] & reached,
            is_root=slice_ in asked,
            is_given=not is_scheduled(graph.entity(slice_.entity)),
            wave=waves[slice_],
        )
        for slice_ in sorted(own, key=lambda slice_: (waves[slice_], place[slice_]))
    }


def _sorted(inputs: Mapping[Slice, tuple[Slice, ...]]) -> Iterator[Slice]:
    """The slices, each after its inputs (Kahn, Topological sorting of large networks, CACM 5, 1962)."""
    users: dict[Slice, list[Slice]] = {}
    missing = {slice_: len(own) for slice_, own in inputs.items()}
    for slice_, own in inputs.items():
        for used in own:
            users.setdefault(used, []).append(slice_)
    ready = deque(slice_ for slice_, count in missing.items() if not count)
    while ready:
        slice_ = ready.popleft()
        yield slice_
        for user in users.get(slice_, ()):
            missing[user] -= 1
            if not missing[user]:
                ready.append(user)
