"""The audit log: each action with its caller, source, time and reason.

A row is written before its action, and deleted only when it is old. Concurrent actions share a commit: the first one
that gets the lock also writes the entries that wait.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import delete, func, select

from tidemark.state_store.database_clock import database_now
from tidemark.state_store.schema import AUDIT_LOG
from tidemark.state_store.transition import instant_of, microseconds

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from tidemark.state_store.database import Database

MOST_SHOWN: Final = 1_000
LONGEST_SUBJECT: Final = 4_096
_LENGTHS: Final = {"who": 512, "source": 256, "action": 256, "subject": LONGEST_SUBJECT, "why": 4_096}
_AT_ONCE: Final = 10_000


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One action. `who` is the authenticated identity, `why` the caller's reason or empty."""

    who: str
    source: str
    action: str
    subject: str = ""
    why: str = ""


@dataclass(slots=True)
class _Pending:
    entry: AuditEntry
    is_settled: bool = False
    failure: BaseException | None = None


@dataclass(frozen=True, slots=True)
class AuditRow:
    """A stored entry; `at` is in UTC."""

    number: int
    at: datetime
    entry: AuditEntry


class AuditLog:
    """The audit log of one store. All methods raise StateStoreDownError.

    `clock` (epoch seconds) is for tests; otherwise the database's time is used.
    """

    def __init__(self, database: Database, clock: Callable[[], float] | None = None) -> None:
        self._database, self._clock = database, clock
        self._waiting: deque[_Pending] = deque()
        self._turn = Lock()

    def add(self, entry: AuditEntry) -> None:
        """Return when the entry is committed. If it raises, nothing was written and the action must not happen."""
        mine = _Pending(entry)
        self._waiting.append(mine)
        with self._turn:
            if not mine.is_settled:
                self._commit([self._waiting.popleft() for _ in range(len(self._waiting))])
        if mine.failure is not None:
            raise mine.failure

    def rows(self, most: int = 100, before: int | None = None, who: str | None = None) -> list[AuditRow]:
        """The newest entries, newest first: only those of `who`, and with numbers below `before`, if given."""
        query = select(AUDIT_LOG).order_by(AUDIT_LOG.c.number.desc()).limit(most)
        if before is not None:
            query = query.where(AUDIT_LOG.c.number < before)
        if who is not None:
            query = query.where(AUDIT_LOG.c.who == who)
        with self._database.reading() as connection:
            return [_row_of(row) for row in connection.execute(query)]

    def trim(self, before: datetime) -> int:
        """Delete up to 10,000 rows older than `before` (aware), but never the newest row. Returns their number."""
        columns = AUDIT_LOG.c
        with self._database.writing() as connection:
            last = connection.execute(select(func.max(columns.number))).scalar() or 0
            old = select(columns.number).where(columns.at < microseconds(before), columns.number < last)
            numbers = list(connection.execute(old.order_by(columns.number).limit(_AT_ONCE)).scalars())
            if numbers:
                connection.execute(delete(AUDIT_LOG).where(columns.number.between(numbers[0], numbers[-1])))
        return len(numbers)

    def _commit(self, pending: list[_Pending]) -> None:
        try:
            with self._database.writing() as connection:
                last = connection.execute(select(func.max(AUDIT_LOG.c.number))).scalar() or 0
                now = database_now(connection, self._clock)
                rows = [_values(waiting.entry, number, now) for number, waiting in enumerate(pending, last + 1)]
                connection.execute(AUDIT_LOG.insert(), rows)
        except BaseException as error:
            for waiting in pending:
                waiting.failure = error
            raise
        finally:
            for waiting in pending:
                waiting.is_settled = True


def _values(entry: AuditEntry, number: int, now: int) -> dict[str, Any]:
    texts = {name: _storable(getattr(entry, name))[:most] for name, most in _LENGTHS.items()}
    return {"number": number, "at": now, **texts}


def _storable(text: str) -> str:
    """Replace characters that a database cannot store: unpaired surrogates and NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


def _row_of(row: Any) -> AuditRow:
    return AuditRow(row.number, instant_of(row.at), AuditEntry(*(getattr(row, name) for name in _LENGTHS)))
