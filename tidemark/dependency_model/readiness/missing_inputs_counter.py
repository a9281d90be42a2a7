"""Counters of the inputs that a waiting slice lacks: a changed input changes one number.

`release` defines the meaning of a clause. This module computes the same by counting, and tests compare the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.readiness.release import accepts

if TYPE_CHECKING:
    from tidemark.dependency_model.graph.requirement import Requirement
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status.slice_status import SliceStatus


class WaitingSlice:
    """A slice that is not launched yet. `unmet` counts unmet clauses; `is_open`: its earliest time has come."""

    __slots__ = ("counters", "is_open", "not_before", "slice", "state", "unmet")

    def __init__(self, slice_: Slice, state: str, not_before: int) -> None:
        self.slice, self.state, self.not_before = slice_, state, not_before
        self.counters: tuple[Counter, ...] = ()
        self.unmet = 0
        self.is_open = False

    @property
    def is_released(self) -> bool:
        return self.is_open and not self.unmet

    @property
    def is_partial(self) -> bool:
        """Whether it starts without some of its inputs."""
        return any(counter.there < counter.total for counter in self.counters)


class Counter:
    """One clause: `there` of `total` inputs are there, and `needed` suffice.

    At `due` (seconds), if any, it is met anyway.
    """

    __slots__ = (
        "beyond",
        "dependency",
        "due",
        "forgives",
        "inputs",
        "is_due",
        "is_met",
        "needed",
        "there",
        "total",
        "waiting",
    )

    def __init__(self, waiting: WaitingSlice, requirement: Requirement) -> None:
        weak = requirement.dependency.weak
        self.waiting, self.dependency, self.inputs = waiting, requirement.dependency, requirement.slices
        self.forgives, self.beyond = requirement.forgives, requirement.beyond
        self.total = len(self.inputs)
        self.needed = min(weak.quorum.required_count(self.total), self.total) if weak and weak.quorum else self.total
        self.due = waiting.not_before + int(weak.timeout.total_seconds()) if weak and weak.timeout else None
        self.there = 0
        self.is_due = self.is_met = False

    def accepts(self, status: SliceStatus | None) -> bool:
        """Whether an input is accepted with this status."""
        return status is not None and accepts(self.dependency, status, self.forgives, self.beyond)

    def begin(self, there: int, now: int) -> None:
        """Sets the first count."""
        self.there = there
        self.is_due = self.due is not None and now >= self.due
        self.is_met = self.is_due or there >= self.needed
        self.waiting.unmet += not self.is_met

    def add(self, change: int) -> bool:
        """Adds a change of the count. Returns whether the clause's result changed."""
        self.there += change
        return self._judge()

    def come_due(self, now: int) -> bool:
        """Sets the time. Returns whether the clause's result changed."""
        self.is_due = self.is_due or (self.due is not None and now >= self.due)
        return self._judge()

    def _judge(self) -> bool:
        met = self.is_due or self.there >= self.needed
        if met is self.is_met:
            return False
        self.is_met = met
        self.waiting.unmet += -1 if met else 1
        return True
