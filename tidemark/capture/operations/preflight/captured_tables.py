"""Checks captured tables by the server's catalog: keys, cascading foreign keys, tables named like shards."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from tidemark.system.check_finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pymysql.cursors import Cursor

    from tidemark.capture.source_table import SourceTable

_OWN: Final = ("mysql", "sys", "information_schema", "performance_schema")
TABLES: Final = """
    SELECT table_schema, table_name FROM information_schema.tables
    WHERE table_type = 'BASE TABLE' AND table_schema NOT IN %s
"""
KEYS: Final = """
    SELECT table_schema, table_name, column_name FROM information_schema.key_column_usage
    WHERE constraint_name = 'PRIMARY' AND table_schema NOT IN %s ORDER BY ordinal_position
"""
CASCADES: Final = """
    SELECT constraint_schema, table_name, constraint_name, referenced_table_name, delete_rule, update_rule
    FROM information_schema.referential_constraints
    WHERE constraint_schema NOT IN %s AND (delete_rule IN ('CASCADE', 'SET NULL', 'SET DEFAULT')
       OR update_rule IN ('CASCADE', 'SET NULL', 'SET DEFAULT'))
"""
DATES: Final = """
    SELECT table_schema, table_name, column_name FROM information_schema.columns
    WHERE data_type IN ('date', 'datetime') AND is_nullable = 'NO' AND table_schema NOT IN %s
      AND FIND_IN_SET('NO_ZERO_DATE', @@GLOBAL.sql_mode) = 0
"""
LOADED_OTHERWISE: Final = """
    SELECT table_schema, table_name, column_name, extra LIKE '%%INVISIBLE%%' FROM information_schema.columns
    WHERE (extra LIKE '%%INVISIBLE%%' OR data_type = 'time' AND datetime_precision BETWEEN 1 AND 5)
      AND table_schema NOT IN %s
"""
UNREADABLE: Final = """
    SELECT table_schema, table_name, 'is system-versioned' FROM information_schema.tables
    WHERE table_type = 'SYSTEM VERSIONED' AND table_schema NOT IN %s
    UNION SELECT table_schema, table_name, 'has a COMPRESSED column' FROM information_schema.columns
    WHERE column_type LIKE '%%COMPRESSED%%' AND table_schema NOT IN %s
"""


class Cascade(NamedTuple):
    """A foreign key of `physical` that lets changes of the parent change its rows."""

    physical: str
    name: str
    parent: str
    on_delete: str
    on_update: str


class SourceCatalog(NamedTuple):
    """A server's catalog: physical tables, primary keys, and foreign keys without row events.

    `dates` are NOT NULL columns (table, column) that may hold 0000-00-00. `loaded_otherwise` are columns that an
    initial load misreads, each with whether it is invisible. `unreadable` are tables with the reason.
    """

    tables: Sequence[str]
    keys: Mapping[str, Sequence[str]]
    cascades: Sequence[Cascade]
    dates: Sequence[tuple[str, str]] = ()
    loaded_otherwise: Sequence[tuple[str, str, bool]] = ()
    unreadable: Sequence[tuple[str, str]] = ()


def read_catalog(cursor: Cursor) -> SourceCatalog:
    """Reads the catalog by six queries of information_schema; names are `<database>.<table>`."""
    cursor.execute(TABLES, (_OWN,))
    tables = sorted(f"{schema}.{table}" for schema, table in cursor.fetchall())
    cursor.execute(KEYS, (_OWN,))
    keys: dict[str, list[str]] = defaultdict(list)
    for schema, table, column in cursor.fetchall():
        keys[f"{schema}.{table}"].append(str(column))
    cursor.execute(CASCADES, (_OWN,))
    cascades = [Cascade(f"{schema}.{table}", *map(str, rest)) for schema, table, *rest in cursor.fetchall()]
    cursor.execute(DATES, (_OWN,))
    dates = sorted((f"{schema}.{table}", str(column)) for schema, table, column in cursor.fetchall())
    cursor.execute(LOADED_OTHERWISE, (_OWN,))
    otherwise = sorted(
        (f"{schema}.{table}", str(name), bool(hidden)) for schema, table, name, hidden in cursor.fetchall()
    )
    cursor.execute(UNREADABLE, (_OWN, _OWN))
    unreadable = sorted((f"{schema}.{table}", str(why)) for schema, table, why in cursor.fetchall())
    return SourceCatalog(tables, keys, sorted(cascades), dates, otherwise, unreadable)


def captured_tables(instance: str, catalog: SourceCatalog, sources: Sequence[SourceTable]) -> list[Finding]:
    """The faults of an instance's captured tables; empty if there are none."""
    captured = [(source, name) for source in sources for name in catalog.tables if source.holds(instance, name)]
    return [
        *(finding for source, name in captured for finding in _key(instance, name, source, catalog.keys.get(name, ()))),
        *_cascades(instance, catalog.cascades, {name for _, name in captured}),
        *_zero_dates(instance, catalog.dates, {name for _, name in captured}),
        *_loaded_otherwise(instance, catalog.loaded_otherwise, {name for _, name in captured}),
        *_unreadable(instance, catalog.unreadable),
        *_strangers(instance, catalog.tables, sources, {name for _, name in captured}),
    ]


def _key(instance: str, physical: str, source: SourceTable, there: Sequence[str]) -> list[Finding]:
    if {name.lower() for name in there} == {name.lower() for name in source.key}:
        return []
    key = f"the primary key is [{', '.join(there)}]" if there else "there is no primary key"
    problem = f"{key}, and {source.name} declares [{', '.join(source.key)}]: rows would be lost or duplicated"
    return [Finding(f"table {instance}.{physical}", "problem", problem, "correct `key` in the entity's YAML")]


def _cascades(instance: str, cascades: Iterable[Cascade], captured: set[str]) -> list[Finding]:
    to_do = (
        "make it RESTRICT and change the child's rows in separate statements, because the binlog has no rows that "
        "a parent changes; or do not capture the table"
    )
    return [
        Finding(
            f"table {instance}.{cascade.physical}",
            "problem",
            f"foreign key {cascade.name} to {cascade.parent}: ON DELETE {cascade.on_delete}, "
            f"ON UPDATE {cascade.on_update} change rows without row events",
            to_do,
        )
        for cascade in cascades
        if cascade.physical in captured
    ]


def _zero_dates(instance: str, dates: Iterable[tuple[str, str]], captured: set[str]) -> list[Finding]:
    return [
        Finding(
            f"table {instance}.{physical}",
            "warning",
            f"{column} may not be NULL and may be 0000-00-00, which Debezium sends as 1970-01-01",
            "add NO_ZERO_DATE to the server's sql_mode, or let the column be NULL",
        )
        for physical, column in dates
        if physical in captured
    ]


def _loaded_otherwise(instance: str, columns: Iterable[tuple[str, str, bool]], captured: set[str]) -> list[Finding]:
    """Columns that only an initial load and a reload misread; their changes are right."""
    fraction = "an initial load reads wrong fractions (00:00:00.500 for 00:00:00.050), a bug in MariaDB's driver"
    return [
        Finding(
            f"table {instance}.{physical}",
            "warning",
            f"{column} is invisible, so an initial load leaves it NULL" if is_invisible else f"{column}: {fraction}",
            "make it visible, or exclude it (`columns`)"
            if is_invisible
            else "make it TIME(6), or exclude it (`columns`)",
        )
        for physical, column, is_invisible in columns
        if physical in captured
    ]


def _unreadable(instance: str, tables: Iterable[tuple[str, str]]) -> list[Finding]:
    """Tables that stop the capture of the whole instance."""
    return [
        Finding(
            f"table {instance}.{physical}",
            "problem",
            f"it {why}, and Debezium 3.5 fails at its first change: then no table of the instance is captured any more",
            f"name it in the connector's table.exclude.list ({physical}), or alter the table",
        )
        for physical, why in tables
    ]


def _strangers(
    instance: str, tables: Iterable[str], sources: Sequence[SourceTable], captured: set[str]
) -> list[Finding]:
    """Tables that are named like shards and are not."""
    sharded = [source for source in sources if source.shards.first is not None and instance in source.instances]
    return [
        Finding(
            f"table {instance}.{name}",
            "warning",
            f"it is named like a shard of {source.name} ({source.table}), but is not one: it is not captured",
            "nothing if it is a copy; otherwise add its number to `table` of the entity's source",
        )
        for name in tables
        if name not in captured
        for source in sharded
        if re.fullmatch(_like_a_shard(source.shards.prefix), name)
    ]


def _like_a_shard(prefix: str) -> str:
    return re.escape(prefix) + (".*" if prefix.endswith("_") else "_?[0-9].*")
