"""Transitions as JSON lines: a backup, or the way from one database to the other.

A line is one transition with all that it says; lines are in order. What is imported twice is there once.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from tidemark.errors import TidemarkError
from tidemark.state_store.errors import ImportLineError
from tidemark.state_store.row_codec import TRANSITION, transition_of, transition_row
from tidemark.state_store.schema import TRANSITIONS
from tidemark.state_store.writer import rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy import Connection

    from tidemark.state_store.database import Database
    from tidemark.state_store.transition import Transition

_CHUNK = 2_000


def export_lines(database: Database) -> Iterator[str]:
    """Every transition as a line, without its end."""
    query = select(*(TRANSITIONS.c[name] for name in TRANSITION)).order_by(TRANSITIONS.c.seq)
    with database.at_one_instant() as connection:
        for row in connection.execution_options(yield_per=_CHUNK).execute(query):
            named = dict(zip(TRANSITION, row, strict=True))
            yield json.dumps({name: value for name, value in named.items() if value is not None}, ensure_ascii=False)


def import_lines(database: Database, lines: Iterable[str]) -> int:
    """Append the transitions that are not there yet, in one transaction; returns how many.

    They keep who, why and when, and get the next numbers. Raises ImportLineError: then nothing was imported.
    """
    with database.writing() as connection:
        known = {row[0] for row in connection.execute(select(TRANSITIONS.c.event_id))}
        seq = connection.execute(select(func.max(TRANSITIONS.c.seq))).scalar() or 0
        first = seq
        batch: list[Transition] = []
        for number, line in enumerate(lines, start=1):
            values = _values(number, line)
            if values["event_id"] in known:
                continue
            known.add(values["event_id"])
            seq += 1
            batch.append(_transition(number, line, {**values, "seq": seq}))
            if len(batch) == _CHUNK:
                batch = _flush(connection, batch)
        _flush(connection, batch)
    return seq - first


def _flush(connection: Connection, batch: list[Transition]) -> list[Transition]:
    for rows in rows_of(batch):
        rows.write(connection)
    return []


def _values(number: int, line: str) -> dict[str, Any]:
    try:
        values = json.loads(line)
        if not isinstance(values, dict) or not isinstance(values.get("event_id"), str):
            raise ValueError("no event_id")  # noqa: TRY004, TRY301 - one error for every unreadable line
    except ValueError as error:
        raise ImportLineError.of(number, line, error) from error
    return values


def _transition(number: int, line: str, values: dict[str, Any]) -> Transition:
    unknown = values.keys() - set(TRANSITION)
    try:
        if unknown:
            raise ValueError(f"unknown {sorted(unknown)}")  # noqa: TRY301
        transition = transition_of([values.get(name) for name in TRANSITION])
        transition_row(transition)
    except (ValueError, KeyError, TypeError, AttributeError, TidemarkError) as error:
        raise ImportLineError.of(number, line, error) from error
    return transition
