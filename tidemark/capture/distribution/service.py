"""The distribution as a long-running process. The processes share the instances' topics."""

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Final

from tidemark.capture.distribution.errors import SessionLostError
from tidemark.capture.distribution.prepare_topics import prepare
from tidemark.capture.distribution.routes import TOPICS, Routes
from tidemark.capture.distribution.session import DistributionSession
from tidemark.capture.source.kafka.errors import BrokerDownError
from tidemark.capture.source_table import SourceTable
from tidemark.state_store.database import Database
from tidemark.state_store.held_leases import taken_number
from tidemark.state_store.notes import Notes

_WAIT_SECONDS: Final = 0.2
_PAUSE_SECONDS: Final = 1.0


@dataclass(frozen=True)
class Distribution:
    """The configuration of the distribution.

    `partitions` is for logical topics that have to be created; existing topics keep theirs. The state store `database`
    has the names of the members of all hosts. `batch` is the most messages in a transaction: few enough to take less
    than a second, enough that a transaction's cost does not count.
    """

    servers: str
    tables: Sequence[SourceTable]
    database: Database
    partitions: int = 4
    pattern: str = TOPICS
    batch: int = 20_000


@dataclass
class Done:
    """The work of one member so far.

    `messages` includes the unrouted and unreadable ones. `sessions_lost` is the number of new starts, `lost_because`
    the last reason. `lag` is in messages, and `sources` is the number of instances' topics that the member has now.
    """

    messages: int = 0
    unrouted: int = 0
    unreadable: int = 0
    sessions_lost: int = 0
    lost_because: str | None = None
    lag: int = 0
    sources: int = 0


def distribute(
    what: Distribution, goes_on: Callable[[Done], bool], pause: Callable[[float], None] = time.sleep
) -> Done:
    """Send messages on while `goes_on` returns True. It is called after each transaction and a few times a second.

    After the start, the function waits for a broker that goes away. Raises the errors of `prepare`, and
    MessagesLostError, PlaceLostError, NotTakenError.
    """
    prepare(what.servers, what.tables, what.partitions, what.pattern)
    done = Done()
    with member_name(what.database) as name:
        while goes_on(done):
            try:
                _serve(what, name, goes_on, done)
            except (SessionLostError, BrokerDownError) as error:
                done.sessions_lost += 1
                done.lost_because = error.found
                pause(_PAUSE_SECONDS)
    return done


def _serve(what: Distribution, name: str, goes_on: Callable[[Done], bool], done: Done) -> None:
    topics = prepare(what.servers, what.tables, what.partitions, what.pattern)
    routes = Routes(what.tables, topics.partitions, what.pattern)
    with DistributionSession(what.servers, name, routes, topics) as session:
        while goes_on(done):
            sent = session.step(what.batch, _WAIT_SECONDS)
            done.messages += sent.messages
            done.unrouted += sent.unrouted
            done.unreadable += sent.unreadable
            done.lag, done.sources = session.reader.lag(), session.reader.has()


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
