"""Parses reports of other systems, from HTTP or a Kafka topic, into facts.

Size, depth and types are checked first (`detectors.storable_json`), then fields, then the number of slices. A request
has up to 1,000 reports for up to 1,000 slices.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
)

from tidemark.center.detectors.storable_json import check_event, invalid_field, parse_body
from tidemark.center.errors import BodyTooLongError, RequestError
from tidemark.center.fact import Fact
from tidemark.center.report_vocabulary import REPORTED, VOCABULARY, hint_of, made_by, words_of
from tidemark.dependency_model.status import Event
from tidemark.dependency_model.subject import MAX_SLICES, Allowance, slices_of
from tidemark.dependency_model.time.window import seconds_of
from tidemark.dependency_model.time.zone import DAY_SECONDS, LAST_DAY
from tidemark.state_store.transition import Facts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.system.caller import Caller

MAX_REPORTS: Final = MAX_SLICES
_NOBODY_NAMED: Final = "api"
MAX_BYTES: Final = 8 * 1024 * 1024
EVENTS: Final = tuple(event.value for event in REPORTED)


def _of_the_calendar(instant: datetime) -> datetime:
    if not 0 <= seconds_of(instant) < LAST_DAY * DAY_SECONDS:
        raise ValueError("instants are known from 1970 to 2199")
    return instant


CalendarInstant = Annotated[AwareDatetime, AfterValidator(_of_the_calendar)]
"""From outside: aware, and within every calendar."""


def _reportable(name: str) -> str:
    if name not in EVENTS:
        raise ValueError(f"nothing to report, expected one of {', '.join(EVENTS)}")
    return name


def _check_words(graph: DependencyGraph, event: Event, slices: Iterable[Slice]) -> None:
    """Raise RequestError if the event may not be reported for one of the slices."""
    for slice_ in slices:
        maker = made_by(graph.node(slice_.entity), slice_)
        if event not in VOCABULARY[maker]:
            raise RequestError(
                f"{event.value} cannot be reported for {slice_}: {maker.value}",
                expected=f"one of {words_of(maker)}",
                found=event.value,
                hint=hint_of(maker),
            )


class Report(BaseModel):
    """One report. `subject` is a subject id (`table=ods_orders&&dt=20260329`) or a slice (`ods_orders@2026-03-29`).

    `changed` true means that the rows are new: a slice that was complete gets a new generation, which its readers
    follow. False means that the rows are the same.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, str_max_length=4_096)

    subject: str
    event: Annotated[str, AfterValidator(_reportable), WithJsonSchema({"type": "string", "enum": [*EVENTS]})]
    event_id: str = Field(min_length=1, max_length=512)
    event_time: CalendarInstant
    who: str = Field(default="", max_length=256)
    why: str = ""
    generation: int | None = Field(default=None, ge=1, lt=1 << 31)
    state: str | None = Field(default=None, max_length=64, pattern=r"^[A-Za-z0-9_.-]+$")
    changed: bool | None = None
    run_id: str | None = None
    cluster: str | None = None
    row_count: int | None = Field(default=None, ge=0, lt=1 << 63)
    minimum: str | None = None
    maximum: str | None = None
    snapshot_id: str | None = None
    batch_id: str | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    watermarks: dict[str, Any] = Field(default_factory=dict)


_REPORTS: Final = TypeAdapter(list[Report])
_DATA: Final = (
    *("run_id", "cluster", "row_count", "minimum", "maximum", "snapshot_id", "batch_id", "parameters", "watermarks"),
)


def facts_of(body: bytes, graph: DependencyGraph, caller: Caller | None = None) -> list[Fact]:
    """The facts of one report or of a list of them, signed by the caller where one was authenticated.

    Raises RequestError, ParseError and UnknownEntityError.
    """
    allowance = Allowance()
    signed = (report.model_copy(update={"who": _signature(report, caller)}) for report in reports_of(body))
    return [fact for report in signed for fact in _facts(report, graph, allowance)]


def _signature(report: Report, caller: Caller | None) -> str:
    return (caller.signature(report.who) if caller else report.who) or _NOBODY_NAMED


def reports_of(body: bytes) -> list[Report]:
    """The reports in a body. Raises RequestError."""
    try:
        return _REPORTS.validate_python(entries_of(body, MAX_REPORTS, "report", "reports"))
    except ValidationError as error:
        raise invalid_field(error, "report ") from error


def entries_of(body: bytes, most: int, name: str, plural: str, what: str = "event") -> list[Any]:
    """The entries of a body, one object or a list, each small and plain enough to be stored.

    The body and the number of entries are checked before any entry. Raises BodyTooLongError, RequestError.
    """
    if len(body) > MAX_BYTES:
        raise BodyTooLongError.of(MAX_BYTES, len(body))
    value = parse_body(body)
    values = value if isinstance(value, list) else [value]
    if not 0 < len(values) <= most:
        raise RequestError(f"a request holds 1 to {most:,} {plural}", found=str(len(values)))
    for number, entry in enumerate(values):
        check_event(entry, f"{name} {number}", what)
    return values


def _facts(report: Report, graph: DependencyGraph, allowance: Allowance) -> list[Fact]:
    slices = slices_of(report.subject, graph, allowance)
    if not slices:
        raise RequestError("the subject has no slices", found=report.subject)
    _check_words(graph, Event(report.event), slices)
    data = Facts(**{name: getattr(report, name) for name in _DATA})
    return list(_facts_of_slices(report, slices, data))


def _facts_of_slices(report: Report, slices: tuple[Slice, ...], data: Facts) -> Iterable[Fact]:
    for slice_ in slices:
        yield Fact(
            event_id=f"api:{report.event_id}" if len(slices) == 1 else f"api:{report.event_id}:{slice_}",
            slice=slice_,
            event=Event(report.event),
            event_time=datetime.fromisoformat(report.event_time.isoformat()),
            who=report.who,
            why=report.why,
            generation=report.generation,
            state=report.state,
            changed=report.changed is not False,
            replaces=report.changed is True,
            data=data,
        )
