"""The state store: a reader and a writer on one database, with its exchange format and its upkeep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from tidemark.state_store.database import Database
from tidemark.state_store.reader import SqlStateReader
from tidemark.state_store.writer import SqlStateWriter

if TYPE_CHECKING:
    from tidemark.system.settings import Settings


class StateStore:
    """`read` and `write` work on the same database; open one a process."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.read = SqlStateReader(database)
        self.write = SqlStateWriter(database)

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The store that the settings name."""
        return cls(Database.of(settings))

    def close(self) -> None:
        """Let go of all connections."""
        self.database.close()
