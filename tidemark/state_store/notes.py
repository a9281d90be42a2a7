"""Notes between processes on any host: texts by kind and name, the newest of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, select

from tidemark.state_store.bulk_write import Rows
from tidemark.state_store.database_clock import database_now
from tidemark.state_store.held_lease import require_lease
from tidemark.state_store.schema import NOTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from sqlalchemy import Connection

    from tidemark.state_store.database import Database
    from tidemark.state_store.fence import Fence

_COLUMNS = ("kind", "name", "content", "changed_at")


class Notes:
    """Notes of one kind, content by name. All raise StateStoreDownError, writes with fences also FencedError."""

    def __init__(self, database: Database, kind: str) -> None:
        self._database, self._kind = database, kind

    def get(self, name: str) -> str | None:
        """The content, or None."""
        with self._database.reading() as connection:
            return self.get_in(connection, name)

    def all(self) -> dict[str, str]:
        """All contents, in order of their names."""
        with self._database.reading() as connection:
            return self._all(connection)

    def put(self, notes: Mapping[str, str], fences: Iterable[Fence] = ()) -> None:
        """Replace the contents of these names, all at once."""
        with self._database.writing() as connection:
            for fence in fences:
                require_lease(connection, fence)
            self._write(connection, notes)

    def add(self, name: str, content: str) -> str:
        """Add a content, unless the name has one; returns the stored one."""
        with self._database.writing() as connection:
            self._write(connection, {name: content}, only_new=True)
            return self.get_in(connection, name) or ""

    def revise(self, change: Callable[[Mapping[str, str]], Mapping[str, str]], fences: Iterable[Fence] = ()) -> None:
        """Replace existing contents by the result of `change`, without other writes in between."""
        with self._database.writing() as connection:
            for fence in fences:
                require_lease(connection, fence)
            self._write(connection, change(self._all(connection)))

    def remove(self, *names: str) -> None:
        """Remove a note, if it exists."""
        with self._database.writing() as connection:
            connection.execute(delete(NOTES).where(NOTES.c.kind == self._kind, NOTES.c.name.in_(names)))

    def get_in(self, connection: Connection, name: str) -> str | None:
        """As `get`, in a writer's transaction."""
        query = select(NOTES.c.content).where(NOTES.c.kind == self._kind, NOTES.c.name == name)
        return connection.execute(query).scalar()

    def put_in(self, connection: Connection, notes: Mapping[str, str]) -> None:
        """As `put`, in a writer's transaction."""
        self._write(connection, notes)

    def _all(self, connection: Connection) -> dict[str, str]:
        query = select(NOTES.c.name, NOTES.c.content).where(NOTES.c.kind == self._kind).order_by(NOTES.c.name)
        return {row.name: row.content for row in connection.execute(query)}

    def _write(self, connection: Connection, notes: Mapping[str, str], *, only_new: bool = False) -> None:
        now = database_now(connection)
        rows = [(self._kind, name, content, now) for name, content in notes.items()]
        if rows:
            Rows(NOTES, _COLUMNS, rows, key=("kind", "name"), only_new=only_new).write(connection)


class PublishedNotes:
    """Notes of one kind that only this process writes: they are stored when they change. Raises as Notes does."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._stored: Mapping[str, str] | None = None

    def become(self, notes: Mapping[str, str]) -> None:
        """Replace all notes by these; the notes of an earlier process go, too."""
        if self._stored is None:
            self._stored = self._notes.all()
        if notes != self._stored:
            self._notes.remove(*(self._stored.keys() - notes.keys()))
            self._notes.put(notes)
            self._stored = dict(notes)
