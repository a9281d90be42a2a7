"""What a member is called: as the one before it that died, so that it ends what that one left open."""

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
    """A name that no other process has meanwhile, of any host; the lease of its number goes with the process.

    Kafka ends an open transaction when somebody of the same name comes, or else when its time is over; until then
    nothing after it can be read. Of a member that was stopped, and goes on, Kafka takes nothing more then.
    """
    with ExitStack() as stack:
        number, _ = taken_number(database, "distribution member", "sending changes on", stack)
        yield Notes(database, NOTES).add(str(number), uuid.uuid4().hex)
