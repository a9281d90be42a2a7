"""The HTTP interface's operations on the center."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from tidemark.api.baseline_models import baselines_model
from tidemark.api.catalog_models import catalog_model, page_model
from tidemark.api.errors import TookTooLongError
from tidemark.api.explanation import explanation_model
from tidemark.api.impact import impact_model
from tidemark.api.past_slices import PastSlicesModel, past_slice_model
from tidemark.api.report_quota import ReportQuota
from tidemark.api.response_models import CountsReceiptModel, ReceiptModel, SlicesModel
from tidemark.catalog.catalog import Catalog
from tidemark.catalog.past_catalog import PastCatalog
from tidemark.catalog.slice_as_of import slice_as_of
from tidemark.center.detectors.external_report import entries_of, facts_of
from tidemark.center.slice_instance import instance_of
from tidemark.crawl.count_report import MOST_ENTRIES, counts_of
from tidemark.dependency_model.impact import bounded_closure, impacts_of
from tidemark.dependency_model.subject import slices_of
from tidemark.state_store.audit_log import AuditEntry, AuditLog
from tidemark.state_store.errors import StateConflictError
from tidemark.state_store.record_counts import RecordCounts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tidemark.api.baseline_models import BaselinesModel
    from tidemark.api.catalog_models import CatalogModel, CatalogPageModel
    from tidemark.api.explanation import ExplanationModel
    from tidemark.api.past_slices import PastSliceModel
    from tidemark.api.response_models import ImpactModel
    from tidemark.center.baseline import CenterForecast
    from tidemark.center.center import DependencyCenter
    from tidemark.center.fact import Fact
    from tidemark.dependency_model.slice import Slice
    from tidemark.system.caller import Caller

_TRIES: Final = 3
_QUERY_SECONDS: Final = 5.0
_FORECAST_SECONDS: Final = 5.0
_MOST_DOWNSTREAM: Final = 20_000


class Queries:
    """Reads and writes of one center; `clock` is monotonic."""

    def __init__(
        self,
        center: DependencyCenter,
        forecast: CenterForecast,
        audit: AuditLog | None = None,
        clock: Callable[[], float] = time.monotonic,
        quota: ReportQuota | None = None,
    ) -> None:
        self._center, self._forecast, self._clock = center, forecast, clock
        self._quota = quota or ReportQuota()
        self._audit = audit or AuditLog(center.store.database)
        self._catalog = Catalog(center.graph, center.store.database)
        declared = [center.graph.entity(name) for name in center.graph]
        by_itself = {entity.name for entity in declared if entity.completeness is not None}
        waited = {entity.probe.counts.of for entity in declared if entity.probe and entity.probe.counts}
        self._counted = frozenset(waited - by_itself)

    def report(self, body: bytes, caller: Caller) -> ReceiptModel:
        """Takes all reports of a body, or none. Raises TidemarkError."""
        facts = facts_of(body, self._center.graph, caller)
        self._quota.take(caller, facts)
        self._audit.add(AuditEntry(caller.who, caller.source, "report", _in_short(facts), facts[0].why))
        for _ in range(_TRIES - 1):
            try:
                return self._report(facts)
            except StateConflictError:  # another center wrote in between; event ids show which reports are stored
                self._center.catch_up()
        return self._report(facts)

    def counts(self, body: bytes, caller: Caller) -> CountsReceiptModel:
        """Takes all counts of a body, or none. Raises CountReportError, RequestError, BodyTooLongError."""
        told, final = counts_of(entries_of(body, MOST_ENTRIES, "entry", "entries", "entry"), self._counted)
        self._audit.add(AuditEntry(caller.who, caller.source, "report counts", f"{len(told):,} counts"))
        RecordCounts(self._center.store.database).report(told, final)
        until = {name: datetime.fromtimestamp(minute * 60, UTC) for name, minute in final.items()}
        return CountsReceiptModel(counts=len(told), final=until)

    def slices(self, subject: str, as_of: datetime | None = None) -> SlicesModel | PastSlicesModel:
        """Explains each slice of a subject, now or at a past instant (aware).

        Stops if it takes too long. Raises TidemarkError.
        """
        end = self._clock() + _QUERY_SECONDS
        if as_of is not None:
            when = as_of.astimezone(UTC)
            return PastSlicesModel(slices=[self._past(slice_, when, end) for slice_ in self._slices_of(subject)])
        self._center.catch_up()
        return SlicesModel(slices=[self._explain(slice_, end) for slice_ in self._slices_of(subject)])

    def _slices_of(self, subject: str) -> tuple[Slice, ...]:
        read = self._center.store.read
        return slices_of(subject, self._center.graph, instance_of=lambda slice_: instance_of(read.history(slice_)))

    def impact(self, subject: str, until: datetime | None) -> ImpactModel:
        """The impact of the slices of a subject, up to `until` (aware, default: now). Raises TidemarkError."""
        graph, end = self._center.graph, until or datetime.now(UTC)
        causes = self._slices_of(subject)
        slices = list(bounded_closure(graph, causes, end, _MOST_DOWNSTREAM))
        return impact_model(causes, end, impacts_of(graph, slices, self._center.statuses(slices)))

    def catalog(self) -> CatalogModel:
        """The present data of each entity."""
        return catalog_model(self._catalog.entries())

    def catalog_page(self, entity: str, most: int, before: str, as_of: datetime | None = None) -> CatalogPageModel:
        """One entity with its newest slices, now or at a past instant (aware). Raises UnknownEntityError."""
        if as_of is None:
            return page_model(self._catalog.page(entity, most, before))
        return page_model(
            PastCatalog(self._center.graph, self._center.store.database, as_of).page(entity, most, before)
        )

    def baseline(self, entity: str | None = None) -> BaselinesModel:
        """The state of the promises, from a forecast that may be five seconds old. Raises UnknownEntityError."""
        if entity is not None:
            self._center.graph.entity(entity)
        self._center.catch_up()
        judged = self._forecast.judge(_FORECAST_SECONDS)
        judged = judged if entity is None else judged.of(entity)
        return baselines_model(judged.now, len(judged.promised), judged.open)

    def _report(self, facts: Sequence[Fact]) -> ReceiptModel:
        receipt = self._center.report(facts, strict=True)
        return ReceiptModel(new=receipt.new, known=receipt.known)

    def _past(self, slice_: Slice, when: datetime, end: float) -> PastSliceModel:
        self._require_time(end)
        return past_slice_model(slice_as_of(self._center.store, slice_, when))

    def _require_time(self, end: float) -> None:
        if self._clock() > end:
            raise TookTooLongError(
                "the answer took too long", expected=f"{_QUERY_SECONDS:g} s", hint="ask for fewer slices at a time"
            )

    def _explain(self, slice_: Slice, end: float) -> ExplanationModel:
        self._require_time(end)
        explanation, exists = self._center.explain(slice_), self._center.graph.exists(slice_)
        return explanation_model(explanation, exists=exists, status_of=self._center.status)


def _in_short(facts: Sequence[Fact]) -> str:
    first, others = facts[0], len(facts) - 1
    return f"{first.slice} {first.event.value}" + (f", and {others:,} more" if others else "")
