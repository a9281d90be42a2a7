"""One look at a patch: what the source said, until capture has passed the place of its snapshot."""

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
    """A patch to look at. Look 0 compares groups, the later ones rows; `before` is what the look before it said.

    `step` is the number of the walk's step that it belongs to, `finding` the open one that it looks at again.
    """

    shard: AuditedShard
    patch: Patch
    step: int = -1
    number: int = 0
    before: Mapping[str, DifferenceKind] = field(default_factory=dict)
    finding: AuditFinding | None = None


@dataclass(frozen=True)
class PendingLook:
    """`since`: capture had merged everything before this offset when the source was `asked` (monotonic seconds).

    It said groups, or rows.
    """

    task: LookTask
    since: int
    mark: SourceMark
    asked: float
    groups: Groups = field(default_factory=dict)
    rows: Mapping[str, str] = field(default_factory=dict)


class StepsUnderWay:
    """Which steps of the walk have looks left: the cursor moves behind those that have none, in order."""

    def __init__(self) -> None:
        self._steps: deque[tuple[int, AuditCursor]] = deque()
        self._left: dict[int, int] = {}

    def begin(self, number: int, behind: AuditCursor) -> None:
        """A step, with one look."""
        self._steps.append((number, behind))
        self._left[number] = 1

    def add(self, number: int, looks: int) -> None:
        """More looks of a step; one that ends is -1."""
        if number in self._left:
            self._left[number] += looks

    def settled(self) -> AuditCursor | None:
        """The cursor behind the steps that have ended since it was asked last."""
        cursor = None
        while self._steps and not self._left[self._steps[0][0]]:
            number, cursor = self._steps.popleft()
            del self._left[number]
        return cursor
