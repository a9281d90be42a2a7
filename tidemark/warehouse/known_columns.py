"""The columns of tables that no query computes: from YAML, or from an existing table.

Columns need not be known. Columns in a declaration are used wherever queries are read. Columns of a table's log are
only used for column lineage, so that inference from a query never depends on what was captured so far.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark.capture.schema.column_names import META_COLUMNS
from tidemark.delta.log_folder import log_mark
from tidemark.warehouse.cache_file import cache_path, read_cache, write_cache

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from tidemark.dependency_model.entity import Entity
    from tidemark.system.settings import Settings
    from tidemark.system.table_location import TableLocation

Names = tuple[str, ...]
"""Names in lower case, without the columns of business time."""


def declared_columns(entity: Entity, entities: Mapping[str, Entity]) -> Names | None:
    """The columns in YAML with the columns that are added to them; None without columns in YAML."""
    table = entities.get(entity.snapshot_of or "", entity)
    if not table.columns:
        return None
    besides = META_COLUMNS if table.source is not None else {}
    return _without_times(entity, [*table.columns, *entity.sub_partitions, *besides])


def columns_on_disk(
    entities: Mapping[str, Entity], computed: Collection[str], root: Path, settings: Settings
) -> dict[str, Names]:
    """The columns of existing tables without columns in YAML and without a query; cached."""
    path = cache_path("tables", root, settings)
    old, new = read_cache(path), dict[str, Any]()
    columns: dict[str, Names] = {}
    for entity in _unlisted(entities, computed):
        table = entity.snapshot_of or entity.name
        if table not in new:
            entry = _entry(settings.warehouse / table, old.get(table))
            if entry is None:
                continue
            new[table] = entry
        columns[entity.name] = _without_times(entity, new[table]["columns"])
    if new != old:
        write_cache(path, new)
    return columns


def _unlisted(entities: Mapping[str, Entity], computed: Collection[str]) -> Iterator[Entity]:
    for entity in entities.values():
        if entity.name not in computed and declared_columns(entity, entities) is None:
            yield entity


def _entry(path: TableLocation, old: Any) -> dict[str, Any] | None:
    """The columns of a table at its newest commit; None if it cannot be read."""
    stamp = log_mark(path)
    if stamp is None:
        return None
    if isinstance(old, dict) and old.get("stamp") == stamp and isinstance(old.get("columns"), list):
        return old
    from tidemark.delta.delta_rs_table import column_names  # noqa: PLC0415 - only where a table changed

    names = column_names(path)
    return None if names is None else {"stamp": stamp, "columns": list(names)}


def _without_times(entity: Entity, names: Collection[str]) -> Names:
    times = {column.name for column in entity.times}
    return tuple(dict.fromkeys(name.lower() for name in names if name.lower() not in times))
