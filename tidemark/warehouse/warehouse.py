"""The declared warehouse: entities, their graph, their SQL, and the locations of their data. It is loaded once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from tidemark.capture.heartbeat.idle_or_broken import Threshold
from tidemark.capture.source_table import CountedRows, SourceTable
from tidemark.dependency_model.entity import CapturedSource, Dependency, Entity, EntityKind, EntityState, LateEvents
from tidemark.dependency_model.entity.dependency import COMPLETED
from tidemark.dependency_model.graph import DependencyGraph
from tidemark.dependency_model.lineage.qualified_names import Naming
from tidemark.dependency_model.offset import Offset
from tidemark.dependency_model.offset.offset import STATIC
from tidemark.dependency_model.time.window import seconds_of
from tidemark.system.garbage_collection import pause_collection
from tidemark.warehouse.center_roles import entity_here, holders_of
from tidemark.warehouse.column_graph import ColumnGraph, column_graph
from tidemark.warehouse.dagster_partition_keys import first_slice
from tidemark.warehouse.declarations import read_declarations
from tidemark.warehouse.project_sql import ProjectSql

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tidemark.errors import QueryError
    from tidemark.system.settings import Settings
    from tidemark.system.table_location import TableLocation
    from tidemark.warehouse.python_function import PythonFunction

EXPORT_LAYER: Final = "olap"
_MILLISECOND: Final = timedelta(milliseconds=1)
_DAY_MINUTES: Final = 1_440
_BEGINNING: Final = "1970-01-02"


@dataclass(frozen=True)
class Warehouse:
    """`entities` has the declared ones and, for each with `export: true`, a derived `olap_<name>`.

    `files` are those of an entity's declaration, its query first. `unread` are entities with a function whose inputs no
    check has found yet. `sql` has names besides tables that queries may use. `staged` has the tables that are built
    beside the present ones. `holders` has the center that computes the flows of each center, as of the loading.
    """

    settings: Settings
    entities: Mapping[str, Entity]
    graph: DependencyGraph
    queries: Mapping[str, str]
    columns: ColumnGraph
    files: Mapping[str, tuple[Path, ...]]
    functions: Mapping[str, PythonFunction]
    unread: frozenset[str] = frozenset()
    sql: ProjectSql = field(default_factory=lambda: ProjectSql(Naming({})))
    staged: Mapping[str, TableLocation] = field(default_factory=dict)
    holders: Mapping[str, str] = field(default_factory=dict)

    def table_path(self, name: str) -> TableLocation:
        """The location of the entity's Delta table; with `snapshot_of` it is the other entity's table."""
        return self.staged.get(name) or self.settings.warehouse / (self.entities[name].snapshot_of or name)

    def entities_sharing(self, path: TableLocation) -> list[str]:
        """The entities whose table is at `path`: for a captured table, all entities with versions of it."""
        return [name for name in self.entities if self.table_path(name) == path]

    def captured_table_of(self, name: str) -> Entity:
        """The captured table whose versions are the entity's slices: its own, or that of `snapshot_of`."""
        return self.entities[self.entities[name].snapshot_of or name]

    def is_snapshot(self, name: str) -> bool:
        """Whether the entity is a captured table, so that its slices are versions (B2) and not partitions."""
        entity = self.entities[name]
        return entity.source is not None or entity.snapshot_of is not None

    def is_external(self, name: str) -> bool:
        """Whether another system makes the entity: it has no query, no function and no source of its own."""
        return name not in self.queries and name not in self.functions and not self.is_made_here(name)

    def is_made_here(self, name: str) -> bool:
        """Whether the entity is captured, or a copy in the OLAP store."""
        return self.is_snapshot(name) or self.entities[name].layer == EXPORT_LAYER

    def source_tables(self) -> tuple[SourceTable, ...]:
        """The tables to capture, with the periods at whose end a snapshot is tagged."""
        return tuple(self._source_table(entity, entity.source) for entity in self.entities.values() if entity.source)

    def _source_table(self, entity: Entity, source: CapturedSource) -> SourceTable:
        tagged = [entity, *(other for other in self.entities.values() if other.snapshot_of == entity.name)]
        return SourceTable(
            name=entity.name,
            table=source.table,
            instances=tuple(source.instances),
            key=tuple(entity.key),
            partition_by=entity.partition_by,
            snapshot_series=tuple(
                (captured.name, str(captured.period), first_slice(self.graph, captured.name).key) for captured in tagged
            ),
            threshold=Threshold(source.idle_after, source.broken_after),
            restated=frozenset(captured.name for captured in tagged if captured.late_events is LateEvents.RESTATE),
            audited=frozenset(captured.name for captured in tagged if captured.has_blocking_rules),
            kept={captured.name: captured.keep_snapshots for captured in tagged if captured.keep_snapshots is not None},
            calendars={captured.name: captured.calendar for captured in tagged},
            excluded=frozenset(name.lower() for name in source.columns.exclude),
            is_loaded_first=source.start == "now",
            counted=_counted_rows(entity),
            first_offsets=source.start if isinstance(source.start, dict) else {},
            lateness={
                captured.name: captured.allowed_lateness // _MILLISECOND
                for captured in tagged
                if captured.allowed_lateness
            },
        )


def _counted_rows(entity: Entity) -> CountedRows | None:
    """The rows that the capture counts, from a day before the entity's start, on any clock."""
    declared = entity.completeness
    if declared is None or not declared.capture:
        return None
    first = seconds_of(entity.calendar.start_of(entity.start or _BEGINNING)) // 60 - _DAY_MINUTES
    return CountedRows(declared.time_column, first)


def load_warehouse(
    settings: Settings,
    root: Path | None = None,
    broken: dict[str, QueryError] | None = None,
    holders: Mapping[str, str] | None = None,
) -> Warehouse:
    """Loads every declaration below `root`, by default the project's `warehouse_assets`.

    Raises EntityErrors with all problems, and QueryError for a query with unknown columns; with `broken` it is stored
    there. `holders` are the centers that compute the flows of others, by default as this lake has them.
    """
    root = root or settings.declarations
    read = read_declarations(root, settings).require_no_problems()
    holders = holders_of(settings, read.entities.values()) if holders is None else holders
    declared = tuple(entity_here(entity, settings, holders) for entity in read.entities.values())
    here = {entity.name for entity in declared if entity == read.entities[entity.name] or entity.probe is None}
    entities = {
        entity.name: entity
        for entity in (*declared, *map(_export_of, filter(lambda declaration: declaration.export, declared)))
    }
    with pause_collection():
        graph = DependencyGraph.build(entities.values())
    columns = column_graph(graph.topological(), read.entities, read.queries, root, settings, broken)
    return Warehouse(
        settings,
        entities,
        graph,
        {name: query for name, query in read.queries.items() if name in here},
        columns,
        read.files,
        {name: function for name, function in read.functions.items() if name in here},
        read.unread & here,
        read.sql,
        holders=holders,
    )


def _export_of(entity: Entity) -> Entity:
    """The OLAP store's copy of an ADS entity: the same slices, each after the entity's slice."""
    same_slice = Dependency(entity.name, STATIC if entity.is_static else Offset.of_counts([0]))
    return replace(
        entity,
        name=f"{EXPORT_LAYER}_{entity.name}",
        kind=EntityKind.STATIC if entity.is_static else EntityKind.TIME_SERIES,
        layer=EXPORT_LAYER,
        description=f"{entity.name} in the OLAP store, for BI.",
        states=(EntityState(COMPLETED, (same_slice,)),),
        quality=(),
        ready_by=None,
        export=False,
        replicate=(),
        read_by=(),
    )
