"""Answers of the HTTP interface. Its input is `tidemark.center.detectors.external_report.Report`."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel

from tidemark.api.explanation import ExplanationModel


class ReceiptModel(BaseModel):
    """`new` facts changed something; `known` ones were reported before, or describe the present state."""

    new: int
    known: int


class CountsReceiptModel(BaseModel):
    """The number of counts that were taken, and by name the time until which the source's counts are final."""

    counts: int
    final: dict[str, datetime]


class SlicesModel(BaseModel):
    """Each slice of a subject, in order of time."""

    slices: list[ExplanationModel]


class ImpactedModel(BaseModel):
    """A slice downstream: `need` is clear (and compute again), start, or nothing; `because` is the reason."""

    slice: str
    need: str
    because: str
    run_state: str
    valid: bool
    tainted: bool


class ImpactModel(BaseModel):
    """The requested slices, and all slices that are computed from them up to `until`, nearer entities first."""

    causes: list[str]
    until: datetime
    downstream: list[ImpactedModel]


class HealthModel(BaseModel):
    """`healthy` while the center works or stands by; `active` while it is the center that launches runs.

    `troubles` are problems that have lasted for more than a minute.
    """

    healthy: bool
    active: bool
    troubles: list[str]


class ErrorDetail(BaseModel):
    """The expected value, the actual value, the place, what to do, and the stable code of this kind of error."""

    message: str
    expected: str | None = None
    found: str | None = None
    where: str | None = None
    hint: str | None = None
    code: str | None = None


class ErrorModel(BaseModel):
    """The body of every error. An error changes nothing."""

    error: ErrorDetail
