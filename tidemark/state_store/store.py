"""The state store: a reader and a writer of one database, with export and maintenance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from tidemark.state_store.database import Database
from tidemark.state_store.reader import SqlStateReader
from tidemark.state_store.writer import SqlStateWriter

if TYPE_CHECKING:
    from tidemark.system.settings import Settings


class StateStore:
    """`read` and `write` use the same database; open one for each process."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.read = SqlStateReader(database)
        self.write = SqlStateWriter(database)

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The store in the settings."""
        return cls(Database.of(settings))

    def close(self) -> None:
        """Close all connections."""
        self.database.close()
