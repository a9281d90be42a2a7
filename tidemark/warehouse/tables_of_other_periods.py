"""Tables with other slices than their entity has now, because its period or partition columns changed.

If the columns differ, a run that would write to the table is refused. If they are equal (days and weeks), the old
partitions stay in the table, but no slice means them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark.delta.log_folder import log_mark
from tidemark.dependency_model.time.date_grid import DateGrid, day_of
from tidemark.errors import EntityError, ParseError
from tidemark.warehouse.cache_file import cache_path, read_cache, write_cache

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

    from tidemark.dependency_model.entity import Entity
    from tidemark.system.settings import Settings
    from tidemark.system.table_location import TableLocation


def tables_of_other_periods(
    settings: Settings, root: Path, entities: Iterable[Entity], computed: Collection[str]
) -> dict[str, EntityError]:
    """For each entity that is computed here, the reason why its table does not have its slices."""
    path = cache_path("partitions", root, settings)
    old, new = read_cache(path), dict[str, Any]()
    problems: dict[str, EntityError] = {}
    for entity in entities:
        if entity.name not in computed or entity.source or entity.snapshot_of:
            continue
        table = settings.warehouse / entity.name
        mark = log_mark(table)
        if mark is None:
            continue
        key = f"{mark} {entity.period} {entity.week_start} {entity.times} {sorted(entity.sub_partitions)}"
        entry = old.get(entity.name)
        known = isinstance(entry, dict) and entry.get("key") == key
        new[entity.name] = entry if known else {"key": key, **_of_table(table, entity)}
        if expected := str(new[entity.name].get("expected", "")):
            problems[entity.name] = EntityError(
                "its table has slices of another period",
                expected=expected,
                found=str(new[entity.name].get("found", "")),
                where=str(table),
                hint=f"an entity whose period changed needs a new table: tidemark apply {entity.name} --rebuild",
            )
    if new != old:
        write_cache(path, new)
    return problems


def _of_table(path: TableLocation, entity: Entity) -> dict[str, str]:
    """The expected and the actual partitions; empty if the table has the entity's slices."""
    from tidemark.delta.delta_rs_table import partitions_of  # noqa: PLC0415 - only where a table changed

    wanted = [*(column.name for column in entity.times), *sorted(entity.sub_partitions)]
    told = partitions_of(path)
    if told is None:
        return {}
    columns, partitions = told
    if set(columns) != set(wanted):
        expected = f"partitions by {', '.join(wanted)}" if wanted else "no partitions"
        return {"expected": expected, "found": f"partitions by {', '.join(columns)}" if columns else "no partitions"}
    odd = [partition for partition in partitions if _is_of_no_slice(entity, partition)]
    if not odd:
        return {}
    shown = ", ".join(f"{name}={value}" for name, value in odd[0].items())
    more = f" and {len(odd) - 1:,} more" if len(odd) > 1 else ""
    return {"expected": f"partitions in which a slice of a {entity.period} starts", "found": f"{shown}{more}"}


def _is_of_no_slice(entity: Entity, partition: Mapping[str, str]) -> bool:
    """Whether no slice starts at the date, hour or minute of a partition."""
    grid = entity.calendar.grid(entity.period) if entity.period else None
    for column in entity.times:
        value = partition.get(column.name) or ""
        if column.type == "date" and isinstance(grid, DateGrid):
            try:
                day = day_of(value)
            except ParseError:
                return False
            return grid.first_day(grid.at_day(day)) != day
        if column.pattern == "mm" and entity.period is not None and value.isdecimal():
            return int(value) % min(entity.period.minutes or 60, 60) != 0
    return False
