"""The code of an entity: what its rows are computed by, and the rules that check them.

Its `version` changes when rows may change. It covers the words of the query (without comments, spaces and capitals of
keywords), the function with the project's modules that it imports, and the parts of the declaration that choose rows.
It does not cover descriptions, owners and rules. Dagster shows it as the asset's code version.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Protocol

from tidemark.dependency_model.code_change.sql_words import sql_words
from tidemark.dependency_model.time.spark_time_zone import SPARK_TIME_ZONE
from tidemark.strict_json import json_text
from tidemark.warehouse.function_code import function_code

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.entity.dependency import Dependency
    from tidemark.warehouse.python_function import PythonFunction


class DeclaredCode(Protocol):
    """A loaded warehouse, or declarations."""

    @property
    def queries(self) -> Mapping[str, str]: ...

    @property
    def functions(self) -> Mapping[str, PythonFunction]: ...


@dataclass(frozen=True)
class EntityCode:
    """`query` is the text as written; `function` has its code by file, with an empty name for its own file.

    `rows` are the parts of the declaration that choose rows, `rules` the parts that only release slices, both by name
    and as text. `outside` has the known columns of tables of other systems that it reads. `clock` is the zone in which
    its query or function runs, or the zones of its sub-partitions.
    """

    query: str
    function: Mapping[str, str]
    rows: Mapping[str, str]
    rules: Mapping[str, str]
    outside: Mapping[str, str] = field(default_factory=dict)
    clock: str = SPARK_TIME_ZONE

    @property
    def version(self) -> str:
        """A hash of twelve digits that changes when the rows may change."""
        return _digits([*sql_words(self.query), *self._function, *self._rows], 12)

    @cached_property
    def id(self) -> str:
        """A hash of sixteen digits of everything, rules included."""
        rules = [f"{name}={value}" for name, value in sorted(self.rules.items())]
        outside = [f"{table}({columns})" for table, columns in sorted(self.outside.items())]
        clock = [] if self.clock == SPARK_TIME_ZONE else [self.clock]
        return _digits([self.query, *self._function, *self._rows, *rules, *outside, *clock], 16)

    @property
    def _function(self) -> list[str]:
        return [f"{file}\n{code}" for file, code in sorted(self.function.items())]

    @property
    def _rows(self) -> list[str]:
        return [f"{name}={value}" for name, value in sorted(self.rows.items())]

    def to_json(self) -> str:
        """The stored form."""
        kept = {
            "query": self.query,
            "function": self.function,
            "rows": self.rows,
            "rules": self.rules,
            "outside": self.outside,
            "clock": self.clock,
        }
        return json_text(kept, sort_keys=True)

    @classmethod
    def of_json(cls, text: str) -> EntityCode:
        """The inverse of `to_json`. Code that was stored without a clock ran on UTC's.

        Raises ValueError for an invalid text.
        """
        kept = json.loads(text)
        try:
            function, rows, rules, outside = (_texts(kept[name]) for name in _PARTS)
            clock = str(kept.get("clock", SPARK_TIME_ZONE))
            return cls(str(kept["query"]), function, rows, rules, outside, clock)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"this is not the code of an entity: {error}") from error


_PARTS: Final = ("function", "rows", "rules", "outside")


def code_version(declared: DeclaredCode, entity: Entity) -> str:
    """The version of an entity's code."""
    return entity_code(declared, entity).version


def entity_code(
    declared: DeclaredCode, entity: Entity, outside: Mapping[str, tuple[str, ...]] = MappingProxyType({})
) -> EntityCode:
    """The present code of an entity. `outside` has the known columns of tables of other systems."""
    function = declared.functions.get(entity.name)
    query = "" if function else declared.queries.get(entity.name, "")
    read = dict.fromkeys(needed.entity for state in entity.states for needed in state.depends_on)
    return EntityCode(
        query,
        function_code(function) if function else {},
        _rows_of(entity),
        _rules_of(entity),
        {name: " ".join(outside[name]) for name in read if outside.get(name)},
        _clock(entity) if function or query else SPARK_TIME_ZONE,
    )


def _rows_of(entity: Entity) -> dict[str, str]:
    chosen = {
        "kind": entity.kind.value,
        "period": str(entity.period),
        "depends_on": _joined(
            _read(state.entity_state, needed)
            for state in entity.states
            for needed in state.depends_on
            if needed.entity not in entity.rule_inputs
        ),
        "time_zone": entity.time_zone,
        "week_start": entity.week_start,
        "partition_columns": _joined(f"{column.name} {column.declared}" for column in entity.partition_columns),
        "sub_partitions": repr(entity.sub_partitions) if entity.sub_partitions else "",
        "source": repr(entity.source) if entity.source else "",
        "key": _joined(entity.key),
        "snapshot_of": entity.snapshot_of or "",
        "late_events": entity.late_events.value,
        "holidays": entity.holidays,
    }
    return {name: value for name, value in chosen.items() if value}


def _clock(entity: Entity) -> str:
    """The entity's zone, and those of its sub-partitions."""
    parts = (part for values in entity.sub_partitions.values() for part in values.values())
    return ", ".join(sorted({entity.time_zone, *(part.time_zone for part in parts if part.time_zone)}))


def _rules_of(entity: Entity) -> dict[str, str]:
    waits = (
        f"{needed.entity} {needed.weak!r} {needed.quality}"
        for state in entity.states
        for needed in state.depends_on
        if needed.weak or needed.quality != "required"
    )
    rules = {
        "quality": _joined(map(repr, entity.quality)),
        "waits": _joined(waits),
        "earliest": str(entity.earliest or ""),
    }
    return {name: value for name, value in rules.items() if value}


def _read(state: str, needed: Dependency) -> str:
    """The slices that a dependency opens. Whether all of them are waited for does not affect rows."""
    parts = [state, needed.entity, str(needed.offset), ",".join(needed.states), repr(needed.sub) if needed.sub else ""]
    return " ".join(part for part in parts if part)


def _joined(parts: Any) -> str:
    return "; ".join(map(str, parts))


def _digits(parts: list[str], count: int) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:count]


def _texts(value: Mapping[str, Any]) -> dict[str, str]:
    return {str(name): str(text) for name, text in value.items()}
