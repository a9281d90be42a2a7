"""A look at a patch: the source's answer, which waits until capture has passed its snapshot."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.capture.audit.audited_range import Patch
    from tidemark.capture.audit.cursor import AuditCursor
    from tidemark.capture.audit.findings import AuditFinding
    from tidemark.capture.audit.group_checksum import Groups
    from tidemark.capture.audit.row_comparison import DifferenceKind
    from tidemark.capture.audit.shard_walk import AuditedShard
    from tidemark.capture.audit.source_mark import SourceMark


@dataclass(frozen=True)
class LookTask:
    """A patch to look at. Look 0 compares groups, later looks compare rows; `before` is the previous look's result.

    `step` is the number of the walk's step, `finding` the open finding that is checked again.
    """

    shard: AuditedShard
    patch: Patch
    step: int = -1
    number: int = 0
    before: Mapping[str, DifferenceKind] = field(default_factory=dict)
    finding: AuditFinding | None = None


@dataclass(frozen=True)
class PendingLook:
    """The source's answer, as groups or rows.

    `since`: capture had merged everything before this offset when the source was read, at `asked` (monotonic seconds).
    """

    task: LookTask
    since: int
    mark: SourceMark
    asked: float
    groups: Groups = field(default_factory=dict)
    rows: Mapping[str, str] = field(default_factory=dict)


class StepsUnderWay:
    """The steps of the walk that have looks left. The cursor moves past finished steps, in order."""

    def __init__(self) -> None:
        self._steps: deque[tuple[int, AuditCursor]] = deque()
        self._left: dict[int, int] = {}

    def begin(self, number: int, behind: AuditCursor) -> None:
        """Begin a step with one look."""
        self._steps.append((number, behind))
        self._left[number] = 1

    def add(self, number: int, looks: int) -> None:
        """Add looks to a step; -1 ends one."""
        if number in self._left:
            self._left[number] += looks

    def settled(self) -> AuditCursor | None:
        """The cursor behind the steps that ended since the last call; None if there are none."""
        cursor = None
        while self._steps and not self._left[self._steps[0][0]]:
            number, cursor = self._steps.popleft()
            del self._left[number]
        return cursor
