"""Groups slices that failed a blocking rule by cause: one for each entity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark.alerts.alert import Trouble
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Quality

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tidemark.alerts.alert import Alert
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.status import SliceStatus

    StatusOf = Callable[[Slice], SliceStatus]

_SHOWN: Final = 20


def rule_troubles(
    told: Mapping[Slice, str], alerts: Sequence[Alert], graph: DependencyGraph, status_of: StatusOf
) -> list[Trouble]:
    """All causes: `told` are slices that failed a rule, with the reason, `alerts` the open alerts about rules.

    A slice counts while its quality is `failed`: not after a good computation, or when a user accepts it.
    """
    known = [Slice.parse(text) for alert in alerts for text in alert.slices]
    by_entity: dict[str, list[Slice]] = {}
    for slice_ in dict.fromkeys([*known, *told]):
        if slice_.entity in graph and status_of(slice_).quality is Quality.FAILED:
            by_entity.setdefault(slice_.entity, []).append(slice_)
    return [_trouble(name, slices, told, graph.entity(name).notify) for name, slices in by_entity.items()]


def _trouble(name: str, slices: Sequence[Slice], told: Mapping[Slice, str], channels: Iterable[str]) -> Trouble:
    words = [f"{slice_} ({told[slice_]})" if told.get(slice_) else str(slice_) for slice_ in slices[:_SHOWN]]
    more = [f"and {len(slices) - _SHOWN} more"] if len(slices) > _SHOWN else []
    message = f"a blocking rule of {name} failed: {', '.join([*words, *more])}"
    return Trouble(f"{name} breaks a blocking rule", message, tuple(map(str, slices)), tuple(dict.fromkeys(channels)))
