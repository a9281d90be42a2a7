"""The version of what computes an entity: it changes when its rows may, and with no description or owner."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.dependency_model.entity import Entity
    from tidemark.warehouse.python_function import PythonFunction


class DeclaredCode(Protocol):
    """A loaded warehouse, or declarations that were read."""

    @property
    def queries(self) -> Mapping[str, str]: ...

    @property
    def functions(self) -> Mapping[str, PythonFunction]: ...


def code_version(declared: DeclaredCode, entity: Entity) -> str:
    """Twelve digits of the query's or function's text and of the declaration's parts that choose rows."""
    function = declared.functions.get(entity.name)
    code = function.text.text if function else declared.queries.get(entity.name, "")
    chosen_by = (
        entity.kind,
        str(entity.period),
        entity.states,
        entity.time_zone,
        entity.week_start,
        entity.source,
        entity.key,
        entity.snapshot_of,
        entity.late_events,
        *([entity.holidays] if entity.holidays else []),
    )
    return hashlib.sha256(f"{code}{chosen_by!r}".encode()).hexdigest()[:12]
