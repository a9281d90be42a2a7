"""Stores the position of a reader of transitions, while the lease is held."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete

from tidemark.state_store.held_lease import require_lease
from tidemark.state_store.schema import CURSORS

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from tidemark.state_store.store import StateStore


def note_position(store: StateStore, name: str, position: str) -> None:
    """Store the position under this name, for `read.cursor`. Raises StateStoreDownError and FencedError."""
    with store.database.writing() as connection:
        require_lease(connection, store.write.fence)
        set_position(connection, name, position)


def set_position(connection: Connection, name: str, position: str) -> None:
    """The same in a transaction that has checked the lease."""
    connection.execute(delete(CURSORS).where(CURSORS.c.name == name))
    connection.execute(CURSORS.insert().values(name=name, position=position))
