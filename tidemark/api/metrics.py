"""Figures as Prometheus reads them. Source: Prometheus' text exposition format, version 0.0.4."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_PREFIX: Final = "tidemark_center"
_COUNTERS: Final = frozenset({"turns", "facts", "launched", "errors", "taken", "ended", "crashed", "replaced"})


def prometheus_text(status: Mapping[str, Any]) -> str:
    """Every number of the status as a metric; those of the pool as `tidemark_center_pool_...`. Texts are left out."""
    return "".join(_lines(_PREFIX, status))


def _lines(prefix: str, status: Mapping[str, Any]) -> Iterator[str]:
    for name, value in status.items():
        if isinstance(value, dict):
            yield from _lines(f"{prefix}_{name}", value)
        elif isinstance(value, int | float):
            kind, suffix = ("counter", "_total") if name in _COUNTERS else ("gauge", "")
            metric = f"{prefix}_{name}{suffix}"
            yield f"# TYPE {metric} {kind}\n{metric} {value:g}\n"
