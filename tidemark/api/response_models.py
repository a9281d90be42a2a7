"""What the HTTP interface answers with; what it takes is `tidemark.center.detectors.external_report.Report`."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel

from tidemark.api.explanation import ExplanationModel


class ReceiptModel(BaseModel):
    """`new` facts changed something; `known` ones were reported before, or say what is so already."""

    new: int
    known: int


class CountsReceiptModel(BaseModel):
    """How many counts were taken, and by name until when the source's are final."""

    counts: int
    final: dict[str, datetime]


class SlicesModel(BaseModel):
    """Each slice of a subject, in order of time."""

    slices: list[ExplanationModel]


class ImpactedModel(BaseModel):
    """A slice downstream: `need` is clear (and compute again), start, or nothing, `because` says why."""

    slice: str
    need: str
    because: str
    run_state: str
    valid: bool
    tainted: bool


class ImpactModel(BaseModel):
    """The slices that were asked about, and all that is computed from them up to `until`, nearer entities first."""

    causes: list[str]
    until: datetime
    downstream: list[ImpactedModel]


class HealthModel(BaseModel):
    """`healthy` while the center works or stands by; `active` while it is the one that launches.

    `troubles` say what has been wrong for longer than a minute.
    """

    healthy: bool
    active: bool
    troubles: list[str]


class ErrorDetail(BaseModel):
    """What was expected, what was found, where, and what to do."""

    message: str
    expected: str | None = None
    found: str | None = None
    where: str | None = None
    hint: str | None = None


class ErrorModel(BaseModel):
    """The body of every answer that is no success; nothing was changed then."""

    error: ErrorDetail
