"""Groups anomalous slices by cause: one for each entity, with the anomalies downstream.

Missing rows are also missing downstream. A slice computed from an anomalous one belongs to its cause, at any distance.
It stays with the alert that names it when no input is anomalous any more.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Final

from tidemark.alerts.alert import Trouble
from tidemark.dependency_model.profile.comparison import words
from tidemark.dependency_model.status import Quality
from tidemark.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from tidemark.alerts.alert import Alert
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.profile.comparison import Anomaly
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status import SliceStatus

    StatusOf = Callable[[Slice], SliceStatus]
    Unusual = Mapping[Slice, tuple[Anomaly, ...]]

_SHOWN: Final = 20
_LOOKED_AT: Final = 500
"""The number of slices upstream to look at, or one level more."""
_MOST_INPUTS: Final = 400
_JUDGED: Final = frozenset({Quality.FAILED, Quality.IGNORED})
"""A failed rule is an alert of its own; an accepted slice has no alert."""


def anomaly_troubles(
    told: Unusual, alerts: Sequence[Alert], graph: DependencyGraph, status_of: StatusOf
) -> list[Trouble]:
    """All causes: `told` are current anomalies, `alerts` the open alerts about anomalies."""
    unusual = {
        slice_: anomalies
        for slice_, anomalies in told.items()
        if _is_there(slice_, graph) and status_of(slice_).quality not in _JUDGED
    }
    named = {slice_: alert.cause for alert in alerts for slice_ in alert.slices}
    upstream = cache(partial(_upstream, graph))
    by_cause: dict[str, list[Slice]] = {}
    for slice_ in unusual:
        root = _root(slice_, unusual, upstream)
        cause = _cause(root.entity) if root != slice_ else named.get(str(slice_), _cause(slice_.entity))
        by_cause.setdefault(cause, []).append(slice_)
    return [_trouble(cause, slices, unusual, graph) for cause, slices in by_cause.items()]


def _is_there(slice_: Slice, graph: DependencyGraph) -> bool:
    try:
        return slice_.entity in graph and graph.exists(slice_)
    except ParseError:  # with another period, from before the entity changed
        return False


def _root(slice_: Slice, unusual: Collection[Slice], upstream: Callable[[Slice], frozenset[Slice]]) -> Slice:
    """The anomalous slice most steps upstream, the first by name among equals; otherwise the slice itself."""
    root, level, seen = slice_, frozenset({slice_}), {slice_}
    while level and len(seen) < _LOOKED_AT:
        level = frozenset(up for down in level for up in upstream(down)) - seen
        seen |= level
        root = min((up for up in level if up in unusual), key=str, default=root)
    return root


def _upstream(graph: DependencyGraph, slice_: Slice) -> frozenset[Slice]:
    """Its inputs, except slices of its own entity, which have their own causes; empty if there are too many."""
    requirements = [
        requirement
        for requirement in graph.requirements(slice_)
        if requirement.dependency.entity != slice_.entity and len(requirement.slices) <= _MOST_INPUTS
    ]
    return frozenset(up for requirement in requirements for up in requirement.slices)


def _cause(entity: str) -> str:
    return f"{entity} is unusual"


def _trouble(cause: str, slices: Sequence[Slice], unusual: Unusual, graph: DependencyGraph) -> Trouble:
    """With the entity's own slices first."""
    listed = sorted(slices, key=lambda slice_: (_cause(slice_.entity) != cause, str(slice_)))
    shown = [f"{slice_} ({words(unusual[slice_])})" for slice_ in listed[:_SHOWN]]
    more = [f"and {len(listed) - _SHOWN} more"] if len(listed) > _SHOWN else []
    message = f"{cause}: {', '.join([*shown, *more])}"
    channels = [name for slice_ in listed for name in graph.entity(slice_.entity).notify]
    return Trouble(cause, message, tuple(map(str, listed)), tuple(dict.fromkeys(channels)))
