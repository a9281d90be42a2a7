"""Transactions of one application without gaps, each identified by more than its number.

Delta keeps one number for each application. The number shows only that *some* batch with it was committed. Two writers
with the same numbers would each take the other's batch for their own, and lose theirs. So a transaction may have an
identity (`Transaction.identity`) in its commit's metadata. It is committed only directly after the previous
transaction, and an existing number counts as its own only with the same identity.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from tidemark.delta.commit_info import IDENTITY, Transaction
from tidemark.delta.errors import ForeignCommitError
from tidemark.delta.open_table import open_table
from tidemark.system.table_location import TableLocation

_LOOK_BACK: Final = (20, 1_000)
"""How many newest commits are searched for an attempt whose answer was lost."""


def is_replay(path: TableLocation, transaction: Transaction, applied: int | None) -> bool:
    """Whether that transaction is in the table; `applied` is the application's newest number there (None or -1: none).

    Raises ForeignCommitError if the table is not as the transaction expects.
    """
    if not transaction.identity:
        return applied is not None and applied >= transaction.number
    newest = max(applied or 0, 0)
    if newest == transaction.number - 1:
        return False
    if newest == transaction.number and _is_there(path, transaction.identity):
        return True
    raise ForeignCommitError.of(path, transaction.app, transaction.number, newest, _writer(path))


def _is_there(path: TableLocation, identity: str) -> bool:
    table = open_table(path)
    return any(_said(entry).get(IDENTITY) == identity for limit in _LOOK_BACK for entry in table.history(limit))


def _writer(path: TableLocation) -> str | None:
    """The writer that the newest commit of such an application names."""
    history = open_table(path).history(_LOOK_BACK[0])
    writers = (_said(entry).get("writer") for entry in history)
    return next((str(writer) for writer in writers if writer), None)


def _said(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        said = json.loads(entry.get("userMetadata") or "{}")
    except json.JSONDecodeError:
        return {}
    return said if isinstance(said, dict) else {}
