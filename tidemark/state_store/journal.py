"""Entries that processes on any host leave for each other, append-only and in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import func, select

from tidemark.state_store.database_clock import database_now
from tidemark.state_store.schema import JOURNAL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidemark.state_store.database import Database


class StoredJournal:
    """Entries of one kind, by subject. All methods raise StateStoreDownError."""

    def __init__(self, database: Database, kind: str) -> None:
        self._database, self._kind = database, kind

    def add(self, subject: str, *contents: str) -> None:
        """Append entries of one subject in one transaction."""
        mine = (JOURNAL.c.kind == self._kind) & (JOURNAL.c.subject == subject)
        with self._database.writing() as connection:
            last = connection.execute(select(func.max(JOURNAL.c.number)).where(mine)).scalar() or 0
            now = database_now(connection)
            for number, content in enumerate(contents, last + 1):
                row = {"kind": self._kind, "subject": subject, "number": number, "content": content, "added_at": now}
                connection.execute(JOURNAL.insert().values(row))

    def of(self, subject: str) -> Iterable[str]:
        """The entries of a subject, in order."""
        query = select(JOURNAL.c.content).where(JOURNAL.c.kind == self._kind, JOURNAL.c.subject == subject)
        with self._database.reading() as connection:
            return list(connection.execute(query.order_by(JOURNAL.c.number)).scalars())

    def all(self) -> Iterable[str]:
        """The entries of all subjects, each in order."""
        query = select(JOURNAL.c.content).where(JOURNAL.c.kind == self._kind)
        with self._database.reading() as connection:
            return list(connection.execute(query.order_by(JOURNAL.c.subject, JOURNAL.c.number)).scalars())
