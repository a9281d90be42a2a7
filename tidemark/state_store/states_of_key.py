"""The present states of all slices with a key, by the index of keys: one day of the whole project, in short."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.status.slice_status import FOREIGN
from tidemark.state_store.slice_lookup import raw

if TYPE_CHECKING:
    from tidemark.state_store.database import Database

_QUERY: Final = f"""
    SELECT entity, sub, CASE WHEN life IN ('failed', 'absent') THEN life
        WHEN issues <> '' OR tainted OR ',' || states || ',' LIKE '%,{FOREIGN},%' THEN 'flawed'
        ELSE life END FROM slices WHERE key = """  # noqa: S608 - our words


def states_of_key(database: Database, key: str) -> list[tuple[str, str, str]]:
    """Entity, sub-partition (as text) and state of each stored slice with this key, in no order.

    The state is that of the run, or `flawed` for a slice with a known fault. Raises StateStoreDownError.
    """
    with database.reading() as connection:
        if database.is_sqlite:
            return raw(connection, f"{_QUERY}?", (key,))
        return raw(connection, f"{_QUERY.replace('%', '%%')}%s", (key,))
