"""Column lineage of a folder of declarations, cached: which columns each entity's columns come from."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from tidemark.errors import QueryError
from tidemark.warehouse.cache_file import cache_path, read_cache, write_cache
from tidemark.warehouse.inference_cache import analysis_version
from tidemark.warehouse.known_columns import Names, columns_on_disk, declared_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.lineage.column_lineage import ColumnLineage
    from tidemark.dependency_model.lineage.known_tables import Table
    from tidemark.system.settings import Settings


@dataclass(frozen=True)
class EntityColumns:
    """`direct`: the columns that each column is computed from, in order. `indirect`: the columns that choose rows."""

    direct: Mapping[str, Names]
    indirect: Names

    @property
    def is_known(self) -> bool:
        """Whether all columns are known by name."""
        return "*" not in self.direct


@dataclass(frozen=True)
class ColumnGraph:
    """Column lineage of entities with SQL, in both directions.

    `same` has entities with the columns of another one: snapshots of a table, the OLAP store's copies. `outside` has
    the known columns of tables that no query computes.
    """

    entities: Mapping[str, EntityColumns]
    same: Mapping[str, str]
    outside: Mapping[str, Names] = field(default_factory=dict)

    def up(self, name: str) -> Names:
        """The columns from which `entity.column` is computed."""
        entity, _, column = name.partition(".")
        if entity in self.same:
            return (f"{self.same[entity]}.{column}",)
        columns_of_entity = self.entities.get(entity)
        return columns_of_entity.direct.get(column, ()) if columns_of_entity else ()

    def down(self, name: str) -> Names:
        """The columns that are computed from `entity.column`."""
        return self._downstream.get(name, ())

    def columns(self, entity: str) -> Names:
        """The known columns of an entity: from its SQL, from its table, or from queries that read it."""
        columns_of_entity = self.entities.get(entity) or self.entities.get(self.same.get(entity, ""))
        if columns_of_entity:
            return tuple(columns_of_entity.direct)
        if entity in self.outside:
            return self.outside[entity]
        indirect = {name for columns in self.entities.values() for name in columns.indirect}
        read = {name for name in {*self._downstream, *indirect} if name.partition(".")[0] == entity}
        return tuple(sorted(name.partition(".")[2] for name in read))

    def is_read(self, entity: str, column: str) -> bool:
        """Whether a downstream query uses a column, also to choose rows, or all columns of the entity."""
        names = {f"{of}.{part}" for of in self._copies(entity) for part in (column, "*")}
        return any(name in self._downstream or name in self._indirect for name in names)

    def is_used_by(self, entity: str, name: str) -> bool:
        """Whether an entity's query uses `upstream.column`. True for a function, whose columns are not known."""
        columns_of_entity = self.entities.get(entity)
        if columns_of_entity is None or not columns_of_entity.is_known:
            return True
        return name in columns_of_entity.indirect or any(name in used for used in columns_of_entity.direct.values())

    def _copies(self, entity: str) -> list[str]:
        return [entity, *(copy for copy, of in self.same.items() if of == entity)]

    @cached_property
    def _indirect(self) -> frozenset[str]:
        return frozenset(name for columns in self.entities.values() for name in columns.indirect)

    @cached_property
    def _downstream(self) -> dict[str, Names]:
        downstream: dict[str, list[str]] = {}
        for entity, columns in self.entities.items():
            for column, sources in columns.direct.items():
                for source in sources:
                    downstream.setdefault(source, []).append(f"{entity}.{column}")
        for copy, entity in self.same.items():
            for column in {name.partition(".")[2] for name in downstream if name.partition(".")[0] == copy}:
                downstream.setdefault(f"{entity}.{column}", []).append(f"{copy}.{column}")
        return {name: tuple(names) for name, names in downstream.items()}


def column_graph(
    order: Iterable[str],
    entities: Mapping[str, Entity],
    queries: Mapping[str, str],
    root: Path,
    settings: Settings,
    broken: dict[str, QueryError] | None = None,
) -> ColumnGraph:
    """The lineage of every entity with SQL; `order` has upstreams first.

    Raises QueryError for a query with unknown columns. With `broken` the error is stored there, and the query counts as
    one that uses all columns of its inputs.
    """
    path = cache_path("columns", root, settings)
    old, new = read_cache(path), dict[str, Any]()
    by_entity: dict[str, EntityColumns] = {}
    outside = _Outside.of(entities, queries, root, settings)
    known, declared = {**outside.listed, **outside.on_disk}, dict(outside.listed)
    for name in order:
        if name not in queries or name not in entities:
            continue
        key = _key(entities[name], queries[name], known, entities)
        try:
            entry = _valid(old.get(name), key) or {
                "key": key,
                **_analyse(name, queries[name], (known, declared), entities),
            }
        except QueryError as error:
            if broken is None:
                raise
            broken[name] = error
            upstreams = tuple(f"{dependency.entity}.*" for dependency in entities[name].depends_on)
            by_entity[name] = EntityColumns({"*": upstreams}, upstreams)
            continue
        new[name] = entry
        direct = {column: tuple(sources) for column, sources in entry["direct"].items()}
        by_entity[name] = EntityColumns(direct, tuple(entry["indirect"]))
        if by_entity[name].is_known:
            known[name] = declared[name] = tuple(direct)
    if new != old:
        write_cache(path, new)
    same = {entity.name: entity.snapshot_of for entity in entities.values() if entity.snapshot_of}
    return ColumnGraph(by_entity, same, outside.with_times(entities))


@dataclass(frozen=True)
class _Outside:
    """The columns of tables that no query computes: from YAML, and from the tables."""

    listed: Mapping[str, Names]
    on_disk: Mapping[str, Names]

    @classmethod
    def of(cls, entities: Mapping[str, Entity], queries: Mapping[str, str], root: Path, settings: Settings) -> Self:
        listed = {
            entity.name: names
            for entity in entities.values()
            if entity.name not in queries and (names := declared_columns(entity, entities))
        }
        return cls(listed, columns_on_disk(entities, queries, root, settings))

    def with_times(self, entities: Mapping[str, Entity]) -> dict[str, Names]:
        """All columns that a query sees of each table."""
        known = {**self.listed, **self.on_disk}
        return {name: (*columns, *(column.name for column in entities[name].times)) for name, columns in known.items()}


def _valid(entry: Any, key: str) -> dict[str, Any] | None:
    """The entry if it is valid and current, else None."""
    if not isinstance(entry, dict) or entry.get("key") != key:
        return None
    return entry if isinstance(entry.get("direct"), dict) and isinstance(entry.get("indirect"), list) else None


def _analyse(
    name: str, text: str, known: Iterable[Mapping[str, Names]], entities: Mapping[str, Entity]
) -> dict[str, Any]:
    """The lineage with the first of several sets of columns that fits the query:

    a table may lack new columns of its source.
    """
    from tidemark.dependency_model.lineage.column_lineage import column_lineage  # noqa: PLC0415 - loads the SQL parser
    from tidemark.dependency_model.lineage.known_tables import Tables  # noqa: PLC0415
    from tidemark.dependency_model.lineage.parsed_query import read_query  # noqa: PLC0415

    query = read_query(text, file=f"{name}.sql")
    *first, last = (Tables(_tables(columns, entities)) for columns in known)
    for tables in first:
        with suppress(QueryError):
            return _as_json(column_lineage(query, tables))
    return _as_json(column_lineage(query, last))


def _tables(known: Mapping[str, Names], entities: Mapping[str, Entity]) -> dict[str, Table]:
    from tidemark.dependency_model.lineage.known_tables import Table  # noqa: PLC0415

    return {
        entity.name.lower(): Table(entity.name, tuple(column.name for column in entity.times), known.get(entity.name))
        for entity in entities.values()
    }


def _as_json(lineage: ColumnLineage) -> dict[str, Any]:
    return {
        "direct": {column: [str(source) for source in sources] for column, sources in lineage.direct.items()},
        "indirect": [str(bound) for bound in lineage.indirect],
    }


def _key(entity: Entity, text: str, known: Mapping[str, Names], entities: Mapping[str, Entity]) -> str:
    upstreams = dict.fromkeys(dependency.entity for dependency in entity.depends_on)
    parts = [analysis_version(), entity.name, text]
    parts += [f"{name} {entities[name].times} {known.get(name)}" for name in upstreams if name in entities]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
