"""What processes of any host tell each other: texts by kind and name, each the newest one."""

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
    """The notes of one kind, content by name. All raise StateStoreDownError, writes with fences FencedError."""

    def __init__(self, database: Database, kind: str) -> None:
        self._database, self._kind = database, kind

    def get(self, name: str) -> str | None:
        """None where there is none."""
        with self._database.reading() as connection:
            return self.get_in(connection, name)

    def all(self) -> dict[str, str]:
        """By name, in its order."""
        with self._database.reading() as connection:
            return self._all(connection)

    def put(self, notes: Mapping[str, str], fences: Iterable[Fence] = ()) -> None:
        """In the place of those of the same names, all at once."""
        with self._database.writing() as connection:
            for fence in fences:
                require_lease(connection, fence)
            self._write(connection, notes)

    def add(self, name: str, content: str) -> str:
        """What is under the name then: the first content stays."""
        with self._database.writing() as connection:
            self._write(connection, {name: content}, only_new=True)
            return self.get_in(connection, name) or ""

    def revise(self, change: Callable[[Mapping[str, str]], Mapping[str, str]], fences: Iterable[Fence] = ()) -> None:
        """Put what `change` makes of those that are there; nobody writes in between."""
        with self._database.writing() as connection:
            for fence in fences:
                require_lease(connection, fence)
            self._write(connection, change(self._all(connection)))

    def remove(self, *names: str) -> None:
        """Nothing where there is none."""
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
