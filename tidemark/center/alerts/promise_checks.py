"""Shows promises in Dagster: the check `baseline` of a slice's partition fails while an alert names the slice.

A run that computes the slice also reports the check as passed. The state store records a report after it was made:
after a crash in between, it is made again with the same id.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import dagster as dg

from tidemark.center.alerts.key_path_drawing import key_path_drawing
from tidemark.dagster_internals.partition_checks import report_check
from tidemark.dependency_model.baseline.promise import BASELINE_CHECK, PromiseState
from tidemark.dependency_model.slice import Slice
from tidemark.errors import ParseError
from tidemark.strict_json import json_text
from tidemark.warehouse.dagster_partition_keys import partition_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tidemark.alerts.alert import Alert
    from tidemark.alerts.alert_book import AlertBook
    from tidemark.center.baseline import Baseline
    from tidemark.dependency_model.graph import DependencyGraph

CURSOR: Final = "checks of promises"
_AT_ONCE: Final = 20
"""Reports in one tick: each takes Dagster's storage some time."""
_MOST: Final = 1_000


class PromiseChecks:
    """The alert watch calls `put`, the ticks call `report`."""

    def __init__(self, book: AlertBook, graph: DependencyGraph) -> None:
        self._book, self._graph = book, graph
        self._wanted: dict[str, tuple[Alert, Baseline | None]] | None = None
        self._told: dict[str, int] | None = None

    def put(self, alerts: Iterable[Alert], open_: Iterable[Baseline], at_risk: Mapping[str, str]) -> None:
        """`alerts` are all open alerts about promises; `at_risk` are slices at risk now, with their causes."""
        by_cause = {alert.cause: alert for alert in alerts}
        promises = {str(promise.slice): promise for promise in open_}
        self._wanted = {
            slice_: (by_cause[cause], promises.get(slice_))
            for slice_, cause in list(at_risk.items())[:_MOST]
            if cause in by_cause
        }

    def report(self, instance: dg.DagsterInstance) -> int:
        """Report changes to Dagster, a limited number at once; returns the number.

        Raises StateStoreDownError, FencedError, and errors of Dagster's storage.
        """
        wanted = self._wanted
        if wanted is None:
            return 0
        if self._told is None:
            self._told = json.loads(self._book.cursor(CURSOR) or "{}")
        over = [slice_ for slice_ in self._told if slice_ not in wanted]
        new = [slice_ for slice_, (alert, _) in wanted.items() if self._told.get(slice_) != alert.number]
        for slice_ in [*over, *new][:_AT_ONCE]:
            if slice_ in wanted:
                alert, promise = wanted[slice_]
                self._tell(instance, slice_, f"{BASELINE_CHECK}-{alert.number}-raised", *_failed(alert, promise))
                self._told[slice_] = alert.number
            else:
                number = self._told.pop(slice_)
                reported_as, severity = f"{BASELINE_CHECK}-{number}-recovered", dg.AssetCheckSeverity.WARN
                self._tell(instance, slice_, reported_as, severity, "it is there, or safe again", {}, passed=True)
        if over or new:
            self._book.note(CURSOR, json_text(self._told))
        return min(len(over) + len(new), _AT_ONCE)

    def _tell(
        self,
        instance: dg.DagsterInstance,
        text: str,
        reported_as: str,
        severity: dg.AssetCheckSeverity,
        description: str,
        metadata: Mapping[str, Any],
        *,
        passed: bool = False,
    ) -> None:
        slice_ = Slice.parse(text)
        try:
            entity = self._graph.entity(slice_.entity) if slice_.entity in self._graph else None
            partition = partition_of(entity, slice_) if entity and not entity.is_project else None
        except ParseError:  # with another period, from before the entity changed
            return
        if partition is None:
            return
        evaluation = dg.AssetCheckEvaluation(
            asset_key=dg.AssetKey([slice_.entity]),
            check_name=BASELINE_CHECK,
            passed=passed,
            partition=partition,
            severity=severity,
            description=description,
            metadata=metadata,
        )
        report_check(instance, evaluation, reported_as)


def _failed(alert: Alert, promise: Baseline | None) -> tuple[dg.AssetCheckSeverity, str, dict[str, Any]]:
    """A promise at risk is a warning, one that will probably be missed an error; with the forecast."""
    is_over = promise is None or promise.state is PromiseState.OVER
    severity = dg.AssetCheckSeverity.ERROR if is_over else dg.AssetCheckSeverity.WARN
    if promise is None or promise.p50 is None or promise.margin is None:
        return severity, alert.cause, {"alert": alert.number}
    return (
        severity,
        f"{promise.state.value}: {'; '.join(promise.causes) or alert.cause}",
        {
            "alert": alert.number,
            "promised": promise.ready_by.isoformat(),
            "predicted": promise.p50.isoformat(),
            "predicted_margin_minutes": round(promise.margin.total_seconds() / 60, 1),
            "late_probability": round(promise.late, 3),
            "key_path": dg.MetadataValue.md(key_path_drawing(promise)),
            "look": f"tidemark baseline {promise.slice.entity}",
        },
    )
