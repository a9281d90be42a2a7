"""Why ready slices wait for a place, by entity and parts: the center notes it, `status` and `explain` show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark.state_store.notes import Notes

if TYPE_CHECKING:
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.database import Database

_KIND: Final = "place wait"


def place_waits(database: Database) -> Notes:
    """The notes. All raise StateStoreDownError."""
    return Notes(database, _KIND)


def waiting_name(slice_: Slice) -> str:
    """The name of a slice's note: all times of an entity and its parts wait for the same places."""
    return str(slice_._replace(key=""))
