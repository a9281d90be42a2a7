"""A cycle of the audit under way, and what it has come to."""

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
    """One cycle: what was compared, what is `found` new, and `passed_over` shards with why."""

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
    """A cycle under way."""

    steps: Iterator[RangeStep]
    tasks: deque[LookTask]
    report: CycleReport
    pending: list[PendingLook] = field(default_factory=list)
    under_way: StepsUnderWay = field(default_factory=StepsUnderWay)
    number: int = 0
    steps_left: bool = True
    compared: float = 0.0
    """When the last batch of looks had been compared (monotonic seconds)."""

    @property
    def is_through(self) -> bool:
        """Whether every range was looked at, as often as it has to be."""
        return not (self.steps_left or self.tasks or self.pending)
