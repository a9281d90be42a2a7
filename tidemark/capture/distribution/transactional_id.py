"""The name of a member. It takes over the name of a dead member, and so ends that member's open transaction."""

import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

from tidemark.state_store.database import Database
from tidemark.state_store.held_leases import taken_number
from tidemark.state_store.notes import Notes

NOTES: Final = "distribution members"
"""The kind of the notes: names by the members' numbers."""


@contextmanager
def member_name(database: Database) -> Iterator[str]:
    """A name that no other process of any host has now. The lease of its number ends with the process.

    Kafka ends an open transaction when a member with the same name starts, or after a timeout. Until then messages
    after it cannot be read. Kafka refuses everything from an earlier member of that name that was stopped and goes on.
    """
    with ExitStack() as stack:
        number, _ = taken_number(database, "distribution member", "sending changes on", stack)
        yield Notes(database, NOTES).add(str(number), uuid.uuid4().hex)
