"""Explains the state of a slice: by clause and by slice, to any depth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.dependency_model.entity.dependency import COMPLETED
from tidemark.dependency_model.readiness.earliest_time import earliest, ready_by
from tidemark.dependency_model.readiness.release import Release, Verdict, release

if TYPE_CHECKING:
    from datetime import datetime

    from tidemark.dependency_model.graph.graph import DependencyGraph
    from tidemark.dependency_model.graph.requirement import Requirement
    from tidemark.dependency_model.readiness.known_slices import KnownSlices
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status.slice_status import SliceStatus
    from tidemark.dependency_model.time.window import Window


@dataclass(frozen=True, slots=True)
class Clause:
    """One dependency: its requirement, and, with known statuses, the verdict and explanations of the missing slices."""

    requirement: Requirement
    verdict: Verdict | None
    missing: tuple[Explanation, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of one slice. Without known statuses, `status`, `release` and the verdicts are None."""

    slice: Slice
    window: Window
    not_before: datetime
    promised: datetime | None
    clauses: tuple[Clause, ...]
    downstream: tuple[Slice, ...]
    status: SliceStatus | None = None
    release: Release | None = None


def explain(
    graph: DependencyGraph,
    slice_: Slice,
    *,
    state: str = COMPLETED,
    known: KnownSlices | None = None,
    now: datetime | None = None,
    depth: int = 1,
) -> Explanation:
    """Explains what a slice waits for and what waits for it. Raises ParseError and UnknownEntityError.

    With `known` and `now` the clauses are judged, and each missing slice is explained in turn, `depth` levels down.
    """
    window, entity = graph.window(slice_), graph.entity(slice_.entity)
    not_before = earliest(entity, window)
    requirements = graph.requirements(slice_, state)
    judged = release(requirements, known, not_before, now) if known and now else None
    verdicts: tuple[Verdict | None, ...] = judged.verdicts if judged else (None,) * len(requirements)
    clauses = []
    for requirement, verdict in zip(requirements, verdicts, strict=True):
        wanted = verdict.missing if verdict and depth > 0 else ()
        deeper = (explain(graph, slice_, known=known, now=now, depth=depth - 1) for slice_ in wanted)
        clauses.append(Clause(requirement, verdict, tuple(deeper)))
    return Explanation(
        slice_,
        window,
        not_before,
        ready_by(entity, window),
        tuple(clauses),
        graph.downstream(slice_),
        known.status(slice_) if known else None,
        judged,
    )
