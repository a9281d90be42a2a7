"""Results of each quality rule for each check of a slice: a table for SQL queries by users (A5).

Runs write it directly, like profiles. It does not decide about a slice; Dagster's event log does. Results are deleted
after the same time as transitions.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal

from sqlalchemy import delete, select
from sqlalchemy.dialects import postgresql, sqlite

from tidemark.dependency_model.slice import Slice
from tidemark.state_store.row_codec import sub_of, sub_text
from tidemark.state_store.schema import QUALITY_RESULTS
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import timedelta

    from tidemark.state_store.database import Database

RuleOutcome = Literal["passed", "broken", "unknown"]
_FORGOTTEN_AT_ONCE: Final = 10_000
_LOOKED_AT: Final = 2_000


@dataclass(frozen=True, slots=True)
class StoredRuleResult:
    """One rule on one slice; `expected` is the rule as text, `measured` are counts by name (aware time).

    `rows` is the slice's number of rows, None if not counted; `version` is the checked version of its table,
    `late_batch` that of late changes on top, and `table_state` identifies the table and its schema, if known.
    """

    slice: Slice
    rule: str
    judged_at: datetime
    severity: str
    outcome: RuleOutcome
    expected: str
    reason: str
    measured: Mapping[str, Any]
    rows: int | None
    version: int | None
    late_batch: int = 0
    table_state: str = ""


class RuleResults:
    """The results in one database. All methods raise StateStoreDownError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, results: Sequence[StoredRuleResult]) -> None:
        """Add results in one transaction; repeating it changes nothing."""
        if not results:
            return
        with self._database.writing() as connection:
            insert = (sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert)(QUALITY_RESULTS)
            connection.execute(insert.on_conflict_do_nothing(), list(map(_row, results)))

    def newest(
        self, entity: str | None = None, slice_key: str | None = None, outcomes: Sequence[str] = (), most: int = 1_000
    ) -> list[StoredRuleResult]:
        """The newest results, limited: of all entities, of one, or of one of its slices."""
        columns = QUALITY_RESULTS.c
        query = select(QUALITY_RESULTS).order_by(columns.judged_at.desc(), columns.entity, columns.key, columns.rule)
        query = query if entity is None else query.where(columns.entity == entity)
        query = query if slice_key is None else query.where(columns.key == slice_key)
        query = query.where(columns.outcome.in_(outcomes)) if outcomes else query
        with self._database.reading() as connection:
            return [_result(row) for row in connection.execute(query.limit(most))]

    def held_at(self, entity: str, table_state: str, until: int) -> dict[str, int]:
        """By rule, as text, the newest version up to `until` at which it passed, for a table in that state.

        Only whole versions count, without late changes on top.
        """
        columns, held = QUALITY_RESULTS.c, dict[str, int]()
        query = (
            select(columns.expected, columns.version)
            .where(columns.entity == entity, columns.version <= until, columns.table_state == table_state)
            .where(columns.outcome == "passed", columns.late_batch == 0)
            .order_by(columns.version.desc())
            .limit(_LOOKED_AT)
        )
        with self._database.reading() as connection:
            for expected, version in connection.execute(query):
                held.setdefault(expected, version)
        return held

    def forget(self, now: datetime, kept: timedelta) -> int:
        """Delete results older than the retention, a limited number at once; returns the number."""
        columns = QUALITY_RESULTS.c
        old = select(columns.judged_at).where(columns.judged_at < _text(now - kept)).order_by(columns.judged_at)
        with self._database.writing() as connection:
            last = connection.execute(old.offset(_FORGOTTEN_AT_ONCE).limit(1)).scalar()
            limit = last if last is not None else _text(now - kept)
            return int(connection.execute(delete(QUALITY_RESULTS).where(columns.judged_at < limit)).rowcount)


def _text(instant: datetime) -> str:
    """The instant as text in UTC, so that texts sort like times."""
    return instant.astimezone(UTC).isoformat(timespec="microseconds")


def _row(result: StoredRuleResult) -> dict[str, Any]:
    return {
        "entity": result.slice.entity,
        "key": result.slice.key,
        "sub": sub_text(result.slice.sub),
        "rule": result.rule,
        "judged_at": _text(result.judged_at),
        "severity": result.severity,
        "outcome": result.outcome,
        "expected": result.expected,
        "reason": result.reason,
        "measured": json_text(dict(result.measured), default=str),
        "rows": result.rows,
        "version": result.version,
        "late_batch": result.late_batch,
        "table_state": result.table_state,
    }


def _result(row: Any) -> StoredRuleResult:
    return StoredRuleResult(
        Slice(row.entity, row.key, sub_of(row.sub)),
        row.rule,
        datetime.fromisoformat(row.judged_at),
        row.severity,
        row.outcome,
        row.expected,
        row.reason,
        json.loads(row.measured),
        row.rows,
        row.version,
        row.late_batch,
        row.table_state,
    )
