"""The numbers of slices by state for each entity, recounted only for entities with new transitions.

A reader loads the stored counts and recounts the few entities with later transitions.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import case, func, select

from tidemark.state_store.bulk_write import Rows
from tidemark.state_store.schema import CATALOG_COUNTS, SLICES, TRANSITIONS
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlalchemy import ColumnElement, Connection

    from tidemark.state_store.database import Database

_COUNTED_AT_ONCE: Final = 200
"""With more changed entities than this, one pass over all slices is cheaper than one query for each."""


@dataclass(frozen=True, slots=True)
class SliceCounts:
    """`completed` slices include the `invalid`, `tainted`, `foreign` and `partial` (incomplete) ones.

    `newest` is the key of the newest completed one. `changed` is the number of the entity's last transition, `last_run`
    that of its last transition with a run.
    """

    completed: int = 0
    invalid: int = 0
    tainted: int = 0
    foreign: int = 0
    partial: int = 0
    absent: int = 0
    failed: int = 0
    running: int = 0
    newest: str = ""
    changed: int = 0
    last_run: int = 0


def slice_counts(database: Database, entities: Iterable[str] | None = None) -> dict[str, SliceCounts]:
    """The present counts by entity, for these entities or all."""
    with database.at_one_instant() as connection:
        noted, seq = _noted(connection)
        changed = _changed_since(connection, seq)
        wanted = None if entities is None else set(entities)
        stale = changed if wanted is None else changed & wanted
        counts = {name: count for name, count in noted.items() if wanted is None or name in wanted}
        counts.update(_counted(connection, stale, noted, seq))
    return counts


def note_counts(database: Database) -> int:
    """Stores the counts of entities that changed since the last call. Returns the number of these entities."""
    with database.at_one_instant() as connection:
        noted, seq = _noted(connection)
        changed = _changed_since(connection, seq)
        counts = _counted(connection, changed, noted, seq)
        last = connection.execute(select(func.max(TRANSITIONS.c.seq))).scalar() or 0
    if not counts:
        return 0
    # The entity without a name has the transition up to which everything was counted.
    rows = [(name, count.changed, json_text(asdict(count))) for name, count in counts.items()]
    with database.writing() as connection:
        Rows(CATALOG_COUNTS, ("entity", "seq", "counts"), [*rows, ("", last, "{}")], ("entity",)).write(connection)
    return len(counts)


def _noted(connection: Connection) -> tuple[dict[str, SliceCounts], int]:
    columns = CATALOG_COUNTS.c
    counts, seq = dict[str, SliceCounts](), 0
    for name, noted_at, text in connection.execute(select(columns.entity, columns.seq, columns.counts)):
        if name:
            counts[name] = SliceCounts(**json.loads(text))
        else:
            seq = noted_at
    return counts, seq


def _changed_since(connection: Connection, seq: int) -> set[str]:
    if not seq:
        return set(connection.execute(select(SLICES.c.entity).where(SLICES.c.seq > 0).distinct()).scalars())
    query = select(TRANSITIONS.c.entity).where(TRANSITIONS.c.seq > seq).distinct()
    return set(connection.execute(query).scalars())


def _last_runs(connection: Connection, seq: int) -> dict[str, int]:
    """By entity, the number of the last transition after `seq` that has a run."""
    columns = TRANSITIONS.c
    query = select(columns.entity, func.max(columns.seq)).where(columns.seq > seq, columns.run_id.is_not(None))
    return {row[0]: row[1] for row in connection.execute(query.group_by(columns.entity))}


def _counted(
    connection: Connection, entities: set[str], noted: Mapping[str, SliceCounts], seq: int
) -> Mapping[str, SliceCounts]:
    """The counts of these entities. `noted` has the last runs up to transition `seq`."""
    slices = SLICES.c
    is_there = slices.life == "completed"
    query = select(
        slices.entity,
        _count(is_there),
        _count(is_there & (slices.issues != "")),
        _count(is_there & slices.tainted),
        _count(is_there & _has_state("foreign")),
        _count(is_there & _has_state("partial")),
        _count(slices.life == "absent"),
        _count(slices.life == "failed"),
        _count(slices.life.in_(("ready", "launched", "running"))),
        func.max(case((is_there, slices.key), else_="")),
        func.max(slices.seq),
    ).group_by(slices.entity)
    if not entities:
        return {}
    if len(entities) <= _COUNTED_AT_ONCE:
        query = query.where(slices.entity.in_(sorted(entities)))
    runs, unknown = _last_runs(connection, seq), SliceCounts()
    return {
        name: replace(SliceCounts(*row), last_run=runs.get(name, noted.get(name, unknown).last_run))
        for name, *row in connection.execute(query)
        if name in entities
    }


def _count(condition: ColumnElement[bool]) -> Any:
    return func.sum(case((condition, 1), else_=0))


def _has_state(name: str) -> ColumnElement[bool]:
    return ("," + SLICES.c.states + ",").like(f"%,{name},%")
