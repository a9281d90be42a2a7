"""The explanation of a slice as JSON: the same keys over HTTP and in `tidemark explain --json`.

Times are in UTC, ISO 8601. Null means unknown, because there is no state store.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.dependency_model.readiness.explanation import Clause, Explanation
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status import SliceStatus

    StatusOf = Callable[[Slice], SliceStatus]


class WindowModel(BaseModel):
    """The window of a slice; `end` is excluded."""

    start: datetime
    end: datetime


class StatusModel(BaseModel):
    """The status of a slice; `issues` are the slices whose failed rules affect it."""

    run_state: str
    states: list[str]
    quality: str
    issues: list[str]
    valid: bool
    tainted: bool
    generation: int


class InputModel(BaseModel):
    """An upstream slice."""

    slice: str
    status: StatusModel | None


class RequirementModel(BaseModel):
    """The requirement for one upstream entity and its result; `due` is the latest time at which a weak one is met."""

    entity: str
    offset: str
    states: list[str]
    strength: str
    or_older: bool
    met: bool | None
    reason: str | None
    due: datetime | None
    missing: list[str] | None
    slices: list[InputModel]


class ExplanationModel(BaseModel):
    """The inputs that a slice waits for (`waits_for`, `upstream`), and the slices that wait for it (`downstream`)."""

    slice: str
    exists: bool
    window: WindowModel
    not_before: datetime
    ready_by: datetime | None
    status: StatusModel | None
    may_start: bool | None
    waits_for: list[str] | None
    upstream: list[RequirementModel]
    downstream: list[str]


def explanation_model(explanation: Explanation, *, exists: bool, status_of: StatusOf | None) -> ExplanationModel:
    """An explanation with the status of each upstream slice, if `status_of` is given."""
    release = explanation.release
    return ExplanationModel(
        slice=str(explanation.slice),
        exists=exists,
        window=WindowModel(start=explanation.window.start, end=explanation.window.end),
        not_before=explanation.not_before,
        ready_by=explanation.promised,
        status=_status(explanation.status) if explanation.status else None,
        may_start=release.is_released if release else None,
        waits_for=_texts(release.missing) if release else None,
        upstream=[_requirement(clause, status_of) for clause in explanation.clauses],
        downstream=_texts(explanation.downstream),
    )


def _requirement(clause: Clause, status_of: StatusOf | None) -> RequirementModel:
    requirement, verdict = clause.requirement, clause.verdict
    dependency = requirement.dependency
    return RequirementModel(
        entity=dependency.entity,
        offset=str(dependency.offset),
        states=list(dependency.states),
        strength=dependency.strength,
        or_older=requirement.or_older,
        met=verdict.is_met if verdict else None,
        reason=verdict.reason.value if verdict else None,
        due=verdict.due if verdict else None,
        missing=_texts(verdict.missing) if verdict else None,
        slices=[
            InputModel(slice=str(upstream), status=_status(status_of(upstream)) if status_of else None)
            for upstream in requirement.slices
        ],
    )


def _status(status: SliceStatus) -> StatusModel:
    return StatusModel(
        run_state=status.run_state.value,
        states=sorted(status.states),
        quality=status.quality.value,
        issues=sorted(map(str, status.issues)),
        valid=status.valid,
        tainted=status.tainted,
        generation=status.generation,
    )


def _texts(slices: tuple[Slice, ...]) -> list[str]:
    return list(map(str, slices))
