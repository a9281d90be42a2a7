"""A backfill in a request: limited in size, then validated, as reports are."""

from __future__ import annotations

from typing import Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StrictBool, ValidationError

from tidemark.center.detectors.external_report import CalendarInstant
from tidemark.center.detectors.storable_json import MAX_EVENT_BYTES, check_event, invalid_field, parse_body
from tidemark.center.errors import BodyTooLongError, RequestError

_BACKFILL: Final = "backfill"
_Model = TypeVar("_Model", bound=BaseModel)


class BackfillOrder(BaseModel):
    """Compute the slices of a subject again, and exactly what was built from them, of all that begins by `until`.

    A `dry_run` stores nothing; `approve` begins at once. More than 1,000 slices need a `yes`. A repeated `event_id`
    makes no new plan: the answer has the backfill of the first request.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, str_max_length=4_096)

    subject: str
    who: str = Field(default="", max_length=256)
    why: str = ""
    until: CalendarInstant | None = None
    event_id: str | None = Field(default=None, min_length=1, max_length=512)
    dry_run: StrictBool = False
    approve: StrictBool = False
    yes: StrictBool = False


class BackfillDecision(BaseModel):
    """Rebuild or keep the slices of a backfill that ask (`reprocess: ask`): all of them, or only `slices`."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_max_length=4_096)

    rebuild: StrictBool
    slices: tuple[str, ...] | None = Field(default=None, max_length=1_000)


def decision_of(body: bytes) -> BackfillDecision:
    """Parses a decision. Raises BodyTooLongError and RequestError."""
    return _parsed(BackfillDecision, body)


def order_of(body: bytes) -> BackfillOrder:
    """Parses a request. Raises BodyTooLongError and RequestError."""
    order = _parsed(BackfillOrder, body)
    if order.dry_run and order.approve:
        raise RequestError("a dry run cannot be approved", where=_BACKFILL, hint="leave out dry_run or approve")
    return order


def _parsed(kind: type[_Model], body: bytes) -> _Model:
    if len(body) > MAX_EVENT_BYTES:
        raise BodyTooLongError.of(MAX_EVENT_BYTES, len(body))
    value = parse_body(body)
    check_event(value, _BACKFILL, what=_BACKFILL)
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise invalid_field(error, f"{_BACKFILL}.") from error
