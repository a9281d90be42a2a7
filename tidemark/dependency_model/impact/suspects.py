"""The slices upstream that may have made a slice wrong, most likely first.

Inputs come from the manifests of the runs. Without a manifest they come from the declared graph. Source: seed
capability D5 (from a wrong dashboard up to the slice that was tainted).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.readiness.slice_manifest import UsedSlice
from tidemark.dependency_model.status.slice_status import PARTIAL, Quality, SliceStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tidemark.dependency_model.graph.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status.consequence import KnownStatuses

    Reads = Callable[[Slice], Sequence[UsedSlice] | None]

_UNKNOWN: Final = SliceStatus()


class Ground(Enum):
    """The reason to suspect a slice, the strongest first."""

    INVALID = "invalid: its rules failed"
    FLAGGED = "invalid: a slice of its series is"
    TAINTED = "tainted"
    CHANGED = "computed again since it was read"
    PARTIAL = "computed without some of its inputs"
    LATE = "late changes came after it was read"
    CODE = "computed by another version of its code"
    NOT_THERE = "its data was deleted"


_STRENGTH: Final = {reason: place for place, reason in enumerate(Ground)}


@dataclass(frozen=True, slots=True)
class Suspect:
    """A slice that was read, `steps` steps upstream.

    `read` has its generation and version then (empty if not recorded).
    """

    slice: Slice
    status: SliceStatus
    read: UsedSlice
    steps: int
    reasons: tuple[Ground, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Facts besides statuses: the present `version` of a slice's table, and whether its code has changed since.

    `is_snapshot` says whether an entity's slices are versions of a captured table: a new version is a late change.
    """

    reads: Reads
    version: Callable[[Slice], str]
    is_outdated: Callable[[Slice], bool]
    is_snapshot: Callable[[str], bool]


def suspects_of(
    graph: DependencyGraph, slice_: Slice, known: KnownStatuses, evidence: Evidence, most: int = 10_000
) -> tuple[Suspect, ...]:
    """Every slice upstream with a reason, the strongest and nearest first. At most `most` slices are examined.

    Raises UnknownEntityError and ParseError for an invalid slice.
    """
    suspects = []
    for read, steps in _upstream(graph, slice_, evidence.reads, most):
        status = known.get(read.slice) or _UNKNOWN
        reasons = tuple(_reasons(read, status, evidence))
        if reasons:
            suspects.append(Suspect(read.slice, status, read, steps, reasons))
    return tuple(sorted(suspects, key=lambda suspect: (_STRENGTH[suspect.reasons[0]], suspect.steps, suspect.slice)))


def _upstream(graph: DependencyGraph, slice_: Slice, reads: Reads, most: int) -> Iterator[tuple[UsedSlice, int]]:
    """The slices that a slice was computed from, over any number of steps, nearest first."""
    graph.window(slice_)
    seen, waiting = {slice_}, deque([(slice_, 0)])
    while waiting:
        down, steps = waiting.popleft()
        for read in _read_by(graph, down, reads):
            if read.slice in seen:
                continue
            if len(seen) > most:
                return
            seen.add(read.slice)
            yield read, steps + 1
            waiting.append((read.slice, steps + 1))


def _read_by(graph: DependencyGraph, slice_: Slice, reads: Reads) -> Iterator[UsedSlice]:
    told = reads(slice_)
    if told is not None:
        yield from (read for read in told if read.slice.entity in graph)
        return
    for requirement in graph.requirements(slice_):
        yield from (UsedSlice(needed, 0) for needed in requirement.slices)


def _reasons(read: UsedSlice, status: SliceStatus, evidence: Evidence) -> Iterator[Ground]:
    if status.quality is Quality.FAILED:
        yield Ground.INVALID
    elif status.issues:
        yield Ground.FLAGGED
    if status.tainted:
        yield Ground.TAINTED
    if _has_changed(read, status, evidence):
        yield Ground.LATE if evidence.is_snapshot(read.slice.entity) else Ground.CHANGED
    if PARTIAL in status.states:
        yield Ground.PARTIAL
    if evidence.is_outdated(read.slice):
        yield Ground.CODE
    if read.generation and not status.states:
        yield Ground.NOT_THERE


def _has_changed(read: UsedSlice, status: SliceStatus, evidence: Evidence) -> bool:
    """Whether the generation or the version of its table has changed."""
    if read.generation and status.generation > read.generation:
        return True
    return bool(read.version) and evidence.version(read.slice) not in ("", read.version)
