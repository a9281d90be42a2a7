"""The body of a report, and the facts that it stands for."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from tidemark.center.errors import RequestError
from tidemark.center.fact import Fact
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event
from tidemark.dependency_model.subject import DependencySubject, DependencySubjectId
from tidemark.dependency_model.subject.resolution import resolve
from tidemark.dependency_model.time.window import seconds_of
from tidemark.dependency_model.time.zone import DAY_SECONDS, LAST_DAY
from tidemark.state_store.transition import Facts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.dependency_model.graph import DependencyGraph

MOST_REPORTS: Final = 10_000
MOST_BYTES: Final = 8 * 1024 * 1024
_DECIDED_HERE: Final = {Event.LAUNCHED, Event.WITHDRAWN, Event.FORCED, Event.FLAGGED, Event.CLEARED}
EVENTS: Final = tuple(event.value for event in Event if event not in _DECIDED_HERE)
"""What others may report; the rest is the center's own to decide."""


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("a text without the character NUL is needed")
    return text


def _of_the_calendar(moment: datetime) -> datetime:
    seconds = seconds_of(moment)
    if not 0 <= seconds < LAST_DAY * DAY_SECONDS:
        raise ValueError("instants are known from 1970 to 2199")
    return moment


Words = Annotated[str, AfterValidator(_without_nul)]


class Report(BaseModel):
    """One report. `subject` is a subject id (`table=ods_orders&&dt=20260329`) or a slice (`ods_orders@2026-03-29`)."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_max_length=4_096)

    subject: Words
    event: Words
    event_id: Words = Field(min_length=1, max_length=512)
    event_time: Annotated[AwareDatetime, AfterValidator(_of_the_calendar)]
    who: Words = Field(default="api", max_length=256)
    why: Words = ""
    generation: int | None = Field(default=None, ge=1)
    state: Words | None = None
    changed: bool = True
    run_id: Words | None = None
    cluster: Words | None = None
    row_count: int | None = Field(default=None, ge=0, lt=1 << 63)
    minimum: Words | None = None
    maximum: Words | None = None
    snapshot_id: Words | None = None
    batch_id: Words | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    watermarks: dict[str, Any] = Field(default_factory=dict)


_REPORTS = TypeAdapter(list[Report])
_TOLD = ("run_id", "cluster", "row_count", "minimum", "maximum", "snapshot_id", "batch_id", "parameters", "watermarks")


def facts_of(body: bytes, graph: DependencyGraph, tasks: Mapping[str, str] | None = None) -> list[Fact]:
    """The facts of one report or of a list of them. Raises RequestError, ParseError and UnknownEntityError."""
    reports = _parsed(body)
    return [fact for report in reports for fact in _facts(report, graph, tasks)]


def slices_of(subject: str, graph: DependencyGraph, tasks: Mapping[str, str] | None = None) -> tuple[Slice, ...]:
    """The slices of a subject id or of a slice's text. Raises ParseError and UnknownEntityError."""
    if "=" in subject.partition("@")[0]:
        found = resolve(DependencySubject.of(DependencySubjectId.parse(subject)), graph, tasks)
    else:
        found = (Slice.parse(subject),)
    for slice_ in found:
        graph.window(slice_)
    return found


def _parsed(body: bytes) -> list[Report]:
    try:
        values = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RequestError("the body is no JSON", found=str(error)) from error
    several = values if isinstance(values, list) else [values]
    if not 0 < len(several) <= MOST_REPORTS:
        raise RequestError("a request holds 1 to 10,000 reports", found=str(len(several)))
    try:
        return _REPORTS.validate_python(several)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise RequestError(first["msg"], found=repr(first["input"])[:200], where=f"report {place}") from error


def _facts(report: Report, graph: DependencyGraph, tasks: Mapping[str, str] | None) -> list[Fact]:
    if report.event not in EVENTS:
        raise RequestError("this is nothing to report", expected=f"one of {', '.join(EVENTS)}", found=report.event)
    slices = slices_of(report.subject, graph, tasks)
    if not slices:
        raise RequestError("the subject stands for no slice", found=report.subject)
    data = Facts(**{name: getattr(report, name) for name in _TOLD})
    return [
        Fact(
            event_id=f"api:{report.event_id}" if len(slices) == 1 else f"api:{report.event_id}:{slice_}",
            slice=slice_,
            event=Event(report.event),
            event_time=datetime.fromisoformat(report.event_time.isoformat()),
            who=report.who,
            why=report.why,
            generation=report.generation,
            state=report.state,
            changed=report.changed,
            data=data,
        )
        for slice_ in slices
    ]
