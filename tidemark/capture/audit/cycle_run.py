"""The state and the report of an audit cycle."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tidemark.capture.audit.look import LookTask, PendingLook, StepsUnderWay

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Iterator

    from tidemark.capture.audit.findings import AuditFinding
    from tidemark.capture.audit.shard_walk import RangeStep


@dataclass
class CycleReport:
    """The result of a cycle. `found` are new findings; `passed_over` has the reason by shard or range."""

    ranges: int = 0
    rows: int = 0
    looks: int = 0
    found: list[AuditFinding] = field(default_factory=list)
    resolved: list[AuditFinding] = field(default_factory=list)
    passed_over: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    source_seconds: float = 0.0


@dataclass
class CycleRun:
    """The state of an active cycle."""

    steps: Iterator[RangeStep]
    tasks: deque[LookTask]
    report: CycleReport
    pending: list[PendingLook] = field(default_factory=list)
    under_way: StepsUnderWay = field(default_factory=StepsUnderWay)
    number: int = 0
    steps_left: bool = True
    compared: float = 0.0
    """Monotonic seconds at which the last batch of looks was compared."""

    @property
    def is_through(self) -> bool:
        """Whether every range was looked at as often as needed."""
        return not (self.steps_left or self.tasks or self.pending)
