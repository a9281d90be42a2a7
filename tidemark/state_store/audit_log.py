"""Who did what, from where, when and why. Rows are added before the action is done, and deleted by their age alone.

Actions that come at the same time share a commit: the first one that gets the lock writes what has gathered meanwhile.
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
_LENGTHS: Final = {"who": 512, "source": 256, "action": 256, "subject": 4_096, "why": 4_096}
_AT_ONCE: Final = 10_000


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One action; `who` was authenticated, `why` is what the caller wrote, or empty."""

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
    """An entry as it is stored; `at` is in UTC."""

    number: int
    at: datetime
    entry: AuditEntry


class AuditLog:
    """The audit log of one store; `clock` is epoch seconds, for tests. All raise StateStoreDownError."""

    def __init__(self, database: Database, clock: Callable[[], float] | None = None) -> None:
        self._database, self._clock = database, clock
        self._waiting: deque[_Pending] = deque()
        self._turn = Lock()

    def add(self, entry: AuditEntry) -> None:
        """Returns once the entry is committed; where it raises nothing was written, and the action must not be done."""
        mine = _Pending(entry)
        self._waiting.append(mine)
        with self._turn:
            if not mine.is_settled:
                self._commit([self._waiting.popleft() for _ in range(len(self._waiting))])
        if mine.failure is not None:
            raise mine.failure

    def rows(self, most: int = 100, before: int | None = None, who: str | None = None) -> list[AuditRow]:
        """The newest entries, newest first; of one identity, and before a number, where these are given."""
        query = select(AUDIT_LOG).order_by(AUDIT_LOG.c.number.desc()).limit(most)
        if before is not None:
            query = query.where(AUDIT_LOG.c.number < before)
        if who is not None:
            query = query.where(AUDIT_LOG.c.who == who)
        with self._database.reading() as connection:
            return [_row_of(row) for row in connection.execute(query)]

    def trim(self, before: datetime) -> int:
        """Delete what is older than `before` (aware), 10,000 rows a call; how many it were. The newest row stays."""
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
    """Without what a database has no character for: halves of characters, and the null character."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


def _row_of(row: Any) -> AuditRow:
    return AuditRow(row.number, instant_of(row.at), AuditEntry(*(getattr(row, name) for name in _LENGTHS)))
