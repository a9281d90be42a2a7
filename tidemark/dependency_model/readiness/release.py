"""Whether the clauses of a declaration release a slice, as a pure function of known statuses and the time.

A strong clause needs all of its slices. A weak one (seed capability A8) is also met by `any_of` them, by `at_least` a
number or share of them, or by a `timeout` after the slice's earliest time. The slice is then partial, and the missing
slices are reported. Quality and taint count unless the clause ignores them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING

from tidemark.dependency_model.status.slice_status import Quality

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet
    from datetime import datetime

    from tidemark.dependency_model.entity.dependency import Dependency, Weak
    from tidemark.dependency_model.graph.requirement import Requirement
    from tidemark.dependency_model.readiness.known_slices import KnownSlices
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status.slice_status import SliceStatus


class Reason(Enum):
    """The reason why a clause is met or not."""

    ALL = "all there"
    OLDER = "an older one is there"
    ANY_OF = "any of them suffices"
    AT_LEAST = "enough of them are there"
    TIMEOUT = "waited long enough"
    FORCED = "a person launched it without them"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One clause: its result with the reason, the used slices and the missing ones.

    At `due` a timeout would meet it.
    """

    requirement: Requirement
    reason: Reason
    used: tuple[Slice, ...]
    missing: tuple[Slice, ...]
    due: datetime | None = None

    @property
    def is_met(self) -> bool:
        return self.reason is not Reason.WAITING


@dataclass(frozen=True, slots=True)
class Release:
    """All clauses of a slice. The slice is partial if it starts without some of its inputs."""

    verdicts: tuple[Verdict, ...]
    not_before: datetime
    now: datetime

    @property
    def is_released(self) -> bool:
        """Whether its earliest time has come and each clause is met."""
        return self.now >= self.not_before and all(verdict.is_met for verdict in self.verdicts)

    @property
    def partial(self) -> bool:
        return self.is_released and bool(self.missing)

    @property
    def missing(self) -> tuple[Slice, ...]:
        """The missing slices of all clauses."""
        return tuple(slice_ for verdict in self.verdicts for slice_ in verdict.missing)

    @property
    def due(self) -> datetime | None:
        """The next time at which the result may change without an event; None if there is none."""
        times = [self.not_before, *(verdict.due for verdict in self.verdicts if verdict.due and not verdict.is_met)]
        return min((time for time in times if time > self.now), default=None)


def release(requirements: Iterable[Requirement], known: KnownSlices, not_before: datetime, now: datetime) -> Release:
    """Whether a slice with these requirements may start at `now`; `not_before` is its earliest time."""
    verdicts = tuple(_verdict(requirement, known, not_before, now) for requirement in requirements)
    return Release(verdicts, not_before, now)


def accepts(
    dependency: Dependency,
    status: SliceStatus,
    forgives: AbstractSet[Slice] = frozenset(),
    beyond: int | None = None,
) -> bool:
    """Whether a clause accepts an upstream slice with this status. Flags of slices in `forgives` do not count.

    `beyond` is the instant (seconds) that the slice's high watermark must have reached.
    """
    if not status.states.intersection(dependency.states):
        return False
    if beyond is not None and (status.watermark is None or status.watermark < beyond):
        return False
    if dependency.quality == "ignore":
        return True
    return status.quality in (Quality.PASSED, Quality.IGNORED) and not status.is_flawed_beyond(forgives)


def _verdict(requirement: Requirement, known: KnownSlices, not_before: datetime, now: datetime) -> Verdict:
    dependency = requirement.dependency
    taken = partial(accepts, dependency, forgives=requirement.forgives, beyond=requirement.beyond)
    used: list[Slice] = []
    missing: list[Slice] = []
    for slice_ in requirement.slices:
        accepted = (
            slice_ if taken(known.status(slice_)) else known.newest(slice_, taken) if requirement.or_older else None
        )
        (used if accepted else missing).append(accepted or slice_)
    weak = dependency.weak
    due = not_before + weak.timeout if weak and weak.timeout and missing else None
    reason = _reason(weak, len(used), len(requirement.slices), due, now) if missing else _of_all(requirement, used)
    return Verdict(requirement, reason, tuple(used), tuple(missing), due)


def _of_all(requirement: Requirement, used: list[Slice]) -> Reason:
    return Reason.ALL if tuple(used) == requirement.slices else Reason.OLDER


def _reason(weak: Weak | None, used: int, wanted: int, due: datetime | None, now: datetime) -> Reason:
    """The reason why a clause with missing slices is met, or that it waits."""
    quorum = weak.quorum if weak else None
    if weak and quorum and used >= quorum.required_count(wanted):
        return Reason.ANY_OF if weak.any_of else Reason.AT_LEAST
    return Reason.TIMEOUT if due and now >= due else Reason.WAITING
