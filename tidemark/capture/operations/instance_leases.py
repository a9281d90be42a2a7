"""Leases of instances: one process at a time merges an instance's changes, on any host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.capture.commits.capture_lease import renew_lease
from tidemark.capture.source_table import instances_of
from tidemark.state_store.held_leases import holding
from tidemark.system.utc_clock import utc_now

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from sqlalchemy import Connection

    from tidemark.capture.source_table import SourceTable
    from tidemark.state_store.database import Database
    from tidemark.state_store.held_leases import HeldLeases
    from tidemark.system.settings import Settings


def taking_in(
    settings: Settings, database: Database, sources: Sequence[SourceTable]
) -> AbstractContextManager[HeldLeases]:
    """Hold the leases of all instances of the tables. Raises AlreadyRunningError if another process has one.

    If a lease is taken over from an expired holder, the warehouse's lease gets the next fencing token. The earlier
    holder may go on, but its commits are refused.
    """

    def taken_over(connection: Connection) -> None:
        renew_lease(settings, database, connection, utc_now())

    names = [f"capture {name}" for name in instances_of(sources)]
    return holding(database, names, "taking in changes", taken_over=taken_over)
