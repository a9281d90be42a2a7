"""Checks in a writer's transaction that it still holds its lease."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from tidemark.state_store.errors import FencedError
from tidemark.state_store.schema import LEASES

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from tidemark.state_store.fence import Fence


def require_lease(connection: Connection, fence: Fence | None) -> None:
    """Raise FencedError if another process holds the lease, or the writer holds none."""
    if fence is None:
        return
    query = select(LEASES.c.fencing_token, LEASES.c.holder).where(LEASES.c.name == fence.lease)
    fencing_token, holder = connection.execute(query).one_or_none() or (0, "")
    if (fencing_token, holder) != (fence.fencing_token, fence.holder) or not fence.fencing_token:
        raise FencedError.of(fence, fencing_token, holder)
