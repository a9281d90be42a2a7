"""The distribution as a process that goes on: as many of them as there are instances' topics share the work."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from tidemark.capture.distribution.errors import SessionLostError
from tidemark.capture.distribution.prepare_topics import prepare
from tidemark.capture.distribution.routes import TOPICS, Routes
from tidemark.capture.distribution.session import DistributionSession
from tidemark.capture.distribution.transactional_id import member_name
from tidemark.capture.source.kafka.errors import BrokerDownError
from tidemark.capture.source_table import SourceTable
from tidemark.state_store.database import Database

_WAIT_SECONDS: Final = 0.2
_PAUSE_SECONDS: Final = 1.0


@dataclass(frozen=True)
class Distribution:
    """What is sent on, from where to where.

    `partitions` are those of logical topics that have to be made; topics that are there keep theirs. Members of all
    hosts have their names in `database`, the state store. `batch` is how many messages a transaction holds at most:
    few enough to be through within a second, enough that its cost does not count.
    """

    servers: str
    tables: Sequence[SourceTable]
    database: Database
    partitions: int = 4
    pattern: str = TOPICS
    batch: int = 20_000


@dataclass
class Done:
    """What one member did so far.

    Messages sent on; how many unrouted and how many unreadable ones were among them; how often it had to
    begin again and why last; `lag` in messages and `sources`, of the instances' topics that it has now.
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
    """Send on until `goes_on`, asked after each transaction and a few times a second, says no.

    A broker that goes away is waited for, except at the start. Raises what `prepare` does, MessagesLostError,
    PlaceLostError, NotTakenError.
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
