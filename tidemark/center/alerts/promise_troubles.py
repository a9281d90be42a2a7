"""Groups promises at risk by cause: a slice whose delay endangers ten promises is one cause with ten promises.

A promise stays with its alert while the alert's cause is on its key path, or nothing else there is unusual. It leaves
the alert when its slice is ready, or safe with 90 % probability, so that alerts do not flap. A promise at risk without
an unusual step is reported when it will probably be missed.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from tidemark.alerts.alert import Trouble
from tidemark.dependency_model.baseline.key_path import Cause
from tidemark.dependency_model.baseline.promise import PromiseState
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import RunState
from tidemark.dependency_model.time.zone import zone_info
from tidemark.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime, tzinfo

    from tidemark.alerts.alert import Alert
    from tidemark.center.baseline import Baseline
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.status import SliceStatus

    StatusOf = Callable[[Slice], SliceStatus]

SHOWN: Final = 20
"""Promises listed in a message."""


def promise_troubles(
    open_: Sequence[Baseline], alerts: Sequence[Alert], graph: DependencyGraph, status_of: StatusOf
) -> list[Trouble]:
    """All causes: `open_` are promises that are not kept yet, `alerts` the open alerts about promises."""
    assigned: dict[str, list[Baseline]] = {}
    named = _names(alerts)
    troubled = [promise for promise in open_ if _is_troubled(promise, graph, is_named=str(promise.slice) in named)]
    counts = Counter(key for promise in troubled for key in promise.cause_keys)
    causes = {alert.cause for alert in alerts}
    for promise in troubled:
        cause = _cause_of(promise, named.get(str(promise.slice), ()), counts, causes)
        assigned.setdefault(cause, []).append(promise)
    evaluated = {str(promise.slice) for promise in open_}
    held = {alert.cause: list(_held(alert, evaluated, graph, status_of)) for alert in alerts}
    wanted = dict.fromkeys([*assigned, *(cause for cause, slices in held.items() if slices)])
    return [_trouble(cause, assigned.get(cause, ()), held.get(cause, ()), graph) for cause in wanted]


def _names(alerts: Iterable[Alert]) -> dict[str, list[str]]:
    """Causes of the alerts that name a slice, by slice."""
    named: dict[str, list[str]] = {}
    for alert in alerts:
        for slice_ in alert.slices:
            named.setdefault(slice_, []).append(alert.cause)
    return named


def _is_troubled(promise: Baseline, graph: DependencyGraph, *, is_named: bool) -> bool:
    if promise.state is PromiseState.OVER or (promise.state is PromiseState.AT_RISK and _is_off_norm(promise)):
        return True
    margin = graph.entity(promise.slice.entity).alert_margin
    return is_named and promise.p90 is not None and promise.p90 + margin > promise.ready_by


def _is_off_norm(promise: Baseline) -> bool:
    return any(not key.endswith(Cause.SLOWER_THAN_PROMISED.value) for key in promise.cause_keys)


def _cause_of(promise: Baseline, named: Iterable[str], counts: Counter[str], causes: set[str]) -> str:
    """The cause of the alert that names it, of another open alert, or the one that most promises share."""
    for cause in named:
        if cause in promise.cause_keys or not _is_off_norm(promise):
            return cause
    return max(promise.cause_keys, key=lambda key: (key in causes, counts[key]))


def _held(alert: Alert, evaluated: set[str], graph: DependencyGraph, status_of: StatusOf) -> Iterator[Slice]:
    """Slices of an alert that are not ready and that forecasts no longer include: late for more than a day."""
    for text in alert.slices:
        slice_ = Slice.parse(text)
        if text not in evaluated and _is_missed(slice_, graph, status_of):
            yield slice_


def _is_missed(slice_: Slice, graph: DependencyGraph, status_of: StatusOf) -> bool:
    try:
        is_promised = slice_.entity in graph and graph.exists(slice_) and bool(graph.entity(slice_.entity).ready_by)
    except ParseError:  # with another period, from before the entity changed
        return False
    return is_promised and status_of(slice_).run_state is not RunState.COMPLETED


def _trouble(cause: str, promises: Sequence[Baseline], held: Sequence[Slice], graph: DependencyGraph) -> Trouble:
    slices = [*(promise.slice for promise in promises), *held]
    channels = [name for slice_ in slices for name in graph.entity(slice_.entity).notify]
    told = [_words(promise, graph) for promise in promises] + [
        f"{slice_} (over, for more than a day)" for slice_ in held
    ]
    more = [f"and {len(told) - SHOWN} more"] if len(told) > SHOWN else []
    count = f"{len(told)} promise{'s' if len(told) != 1 else ''}"
    message = f"{_sentence(cause, promises)}; endangers {count}: {', '.join([*told[:SHOWN], *more])}"
    return Trouble(cause, message, tuple(map(str, slices)), tuple(dict.fromkeys(channels)))


def _sentence(cause: str, promises: Iterable[Baseline]) -> str:
    """The cause, with the size of the delay if a key path has it."""
    for promise in promises:
        for key, sentence in zip(promise.cause_keys, promise.causes, strict=True):
            if key == cause:
                return sentence
    return cause


def _words(promise: Baseline, graph: DependencyGraph) -> str:
    zone = zone_info(graph.entity(promise.slice.entity).time_zone)
    predicted = f", predicted {_clock(promise.p50, zone)}" if promise.p50 else ""
    return f"{promise.slice} ({promise.state.value}, by {_clock(promise.ready_by, zone)}{predicted})"


def _clock(instant: datetime, zone: tzinfo) -> str:
    return f"{instant.astimezone(zone):%m-%d %H:%M}"
