"""Access to the stored backfills of the project."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from tidemark.console.errors import NothingComputedError
from tidemark.state_store.backfills import Backfills
from tidemark.state_store.store import StateStore
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def stored_backfills() -> Iterator[Backfills]:
    """Open the backfills. Raises NothingComputedError if there is no state store yet, and StateStoreDownError."""
    settings = Settings.load()
    if not settings.state and not settings.state_db.exists():
        raise NothingComputedError("nothing is computed yet, so there are no backfills")
    store = StateStore.of(settings)
    try:
        yield Backfills(store.database)
    finally:
        store.close()
