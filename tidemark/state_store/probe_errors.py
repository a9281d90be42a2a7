"""The last error of each probe that fails, by the text of its slice: the center notes it, `status` shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark.state_store.notes import Notes

if TYPE_CHECKING:
    from tidemark.state_store.database import Database

_KIND: Final = "probe error"


def probe_errors(database: Database) -> Notes:
    """The notes. All raise StateStoreDownError."""
    return Notes(database, _KIND)
