"""`source:`, a copy of another system's rows: one declaration makes two entities.

The entity itself is a table of the lake. It reads a second entity: the external data, which has a probe. The defaults
suit a copy: `settle_for` is short, because a later change is copied again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tidemark.dependency_model.entity.yaml_document import Document
from tidemark.dependency_model.suggestion import quote_value
from tidemark.errors import EntityError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tidemark.dependency_model.entity.entity import Entity

KINDS: Final = ("files", "sql", "delta", "kafka")
"""The kinds of sources, by the names of their probes."""
_DEFAULTS: Final = {"settle_for": "10s", "recheck_for": "7d"}
_SHARED: Final = ("period", "time_zone", "week_start", "holidays", "start", "end", "owner", "tags", "notify", "project")
_CUT: Final = ("partition_columns", "sub_partitions")
_KEY: Final = "source"
_TYPE: Final = re.compile(r"[A-Za-z][\w(), <>:]{0,500}", re.ASCII)


@dataclass(frozen=True)
class DeclaredTable:
    """The entities of one file: a table, and if it copies rows of another system, the external data as `outside`.

    `types` are the Spark types of the copied columns by name; a column with an empty type is not cast.
    """

    entity: Entity
    outside: Entity | None = None
    types: Mapping[str, str] = field(default_factory=dict)


def outside_name(name: str) -> str:
    """The name of the external data that a table is copied from."""
    return f"{name}_source"


def is_copied(values: Any) -> bool:
    """Whether a file declares a copy."""
    source = values.get(_KEY) if isinstance(values, dict) else None
    return isinstance(source, str) or (isinstance(source, dict) and not {*source}.isdisjoint(KINDS))


def table_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the copied table, without its source."""
    return {key: value for key, value in values.items() if key not in (_KEY, "columns")}


def outside_values(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The values of the external data that the table `name` copies."""
    shared = {key: values[key] for key in (*_SHARED, *_CUT) if key in values}
    columns = values.get("columns", [])
    return {
        **shared,
        "name": outside_name(name),
        "kind": "Virtual",
        "description": f"What {name} is copied from.",
        "columns": list(columns) if isinstance(columns, dict) else columns,
        "probe": {**_DEFAULTS, **_probe(values[_KEY])},
    }


def outside_document(document: Document) -> Document:
    """The file as a declaration of the external data. Problems of the probe get the lines of `source`."""
    moved = {("probe", *path[1:]) if path[:1] == (_KEY,) else path: line for path, line in document.lines.items()}
    return Document(document.values, moved)


def types_of(values: Mapping[str, Any]) -> dict[str, str]:
    """The type of each copied column, or an empty text."""
    columns = values.get("columns")
    if isinstance(columns, dict):
        return {str(name): str(type_ or "") for name, type_ in columns.items()}
    return dict.fromkeys(map(str, columns if isinstance(columns, list) else ()), "")


def wrong_types(types: Mapping[str, str]) -> Iterator[tuple[str, EntityError]]:
    """(column, problem) of each type that is not a type of Spark."""
    for column, type_ in types.items():
        is_whole = type_.count("(") == type_.count(")") and type_.count("<") == type_.count(">")
        if type_ and not (is_whole and _TYPE.fullmatch(type_)):
            expected = "a type of Spark's SQL, such as BIGINT, TIMESTAMP or, in quotes, DECIMAL(12, 2)"
            yield column, EntityError(f"columns.{column}: no type", expected=expected, found=quote_value(type_))


def _probe(source: str | Mapping[str, Any]) -> dict[str, Any]:
    """The probe of a source. With a time column, a slice is complete, even if empty, once a later row is there."""
    if isinstance(source, str):
        return {"files": {"path": source}}
    probe = dict(source)
    if isinstance(probe.get("files"), str):
        probe["files"] = {"path": probe["files"]}
    for kind in ("sql", "delta"):
        told = probe.get(kind)
        if isinstance(told, dict) and "time_column" in told:
            probe[kind] = {"watermark": told["time_column"], "at_least": 0, **told}
    return probe
