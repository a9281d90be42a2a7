"""The servers and processes of the chain, and what may be done to them while changes flow."""

from __future__ import annotations

import json
import random
import sys
import time
import urllib.error
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tests.capture.distribution.members import Members
from tests.components.chain.capture import declare_tables, settings_of
from tests.components.chain.story_clock import DATED, SURVIVES
from tests.components.chain.tables import DATABASE, INSTANCES, ChainTable
from tests.components.chain.taker import POINTS, Taker
from tests.components.chain.writer import declare
from tests.lake_folder import lake_folder
from tidemark.capture.source_table import topic_of
from tidemark.console.servers.errors import ComponentFailedError
from tidemark.console.servers.jars import jars
from tidemark.console.servers.kafka import Kafka, kafka
from tidemark.console.servers.kafka_connect import Connect, connect
from tidemark.console.servers.mariadb import MariaDb, mariadb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from tests.components.chain.story import Injection, Story

_BETWEEN_SECONDS: Final = 1.0
_NOT_THERE: Final = "no longer available on the server"
"""Debezium, of a position that its server's binlogs do not hold."""


@dataclass
class World:
    """Everything that runs; `bookmarks` are offsets that connectors had at some time, `stack` ends who comes later.

    `failed_over` are connectors that a replica serves.
    """

    databases: dict[str, MariaDb]
    broker: Kafka
    connect: Connect
    members: Members
    taker: Taker
    stack: ExitStack
    bookmarks: dict[str, list[Any]] = field(default_factory=dict)
    failed_over: set[str] = field(default_factory=set)
    tended: int = 0
    distributes: bool = True
    sessions_lost: int = 0

    def inject(self, injection: Injection) -> None:
        chance = random.Random(injection.draw)
        actions: dict[str, Callable[[random.Random], None]] = {
            "capture killed": lambda _: self.taker.kill(),
            "capture and its JVM killed": lambda _: self.taker.kill_all(),
            "capture killed at a point": lambda draw: self.taker.kill_at(draw.choice(POINTS), draw.randint(1, 4)),
            "member killed": lambda _: self.members.kill(),
            "member joins": lambda _: self.members.join(),
            "member leaves": lambda _: self.members.leave(),
            "broker killed": lambda _: self._broker(self.broker.server.kill),
            "broker restarted": lambda _: self._broker(self.broker.server.stop),
            "connect killed": lambda _: self._connect(self.connect.server.kill),
            "connect restarted": lambda _: self._connect(self.connect.server.stop),
            "connector restarted": self._restart,
            "replay of a part": lambda draw: self._replay(draw, whole=False),
            "replay of all": lambda draw: self._replay(draw, whole=True),
            "database killed": lambda draw: self._database(draw, kill=True),
            "database restarted": lambda draw: self._database(draw, kill=False),
        }
        if injection.kind.startswith("member") and not self.distributes:
            return
        if injection.kind.startswith("capture"):
            self.taker.let_work(chance)
        actions[injection.kind](chance)

    def tend(self) -> None:
        """What an operator's tools do: start again who is gone, and connectors that failed."""
        self.taker.tend()
        if self.distributes:
            self.members.at_least(1)
        if self.connect.server.process.poll() is not None:
            self.connect.start_again()
        for name in self.connect.connectors:
            state = self.connect.state(name)
            if state not in _NO_MATTER and not state.startswith("UNREACHABLE"):
                self.tended += 1
                if _NOT_THERE in state and "gtids" not in json.dumps(self.offsets(name)):
                    self._read_all_again(name)
                self._ask("POST", f"{name}/restart?includeTasks=true&onlyFailed=true")

    def _read_all_again(self, name: str) -> None:
        """What docs/capture.md asks for where a new primary is looked for by the file of the server before."""
        self._ask("PUT", f"{name}/stop")
        self.connect.wait_until("STOPPED", name)
        self._ask("DELETE", f"{name}/offsets")
        self._ask("PUT", f"{name}/resume")

    def end_distribution(self) -> None:
        """For good: of a topic that is made anew it would say that messages are lost."""
        if self.distributes:
            self.distributes, self.sessions_lost = False, self.members.stop()

    def bookmark(self) -> None:
        """Remember where the connectors are."""
        for name in self.connect.connectors:
            offsets = self.offsets(name)
            if offsets and offsets["offsets"]:
                self.bookmarks.setdefault(name, []).append(offsets)

    def offsets(self, connector: str) -> Any:
        """Where it would begin again; None where nobody answers at the moment."""
        return self._ask("GET", f"{connector}/offsets")

    def restart_connectors(self) -> None:
        """As somebody does whose connector has lost a session with its database."""
        for name in self.connect.connectors:
            self._ask("POST", f"{name}/restart?includeTasks=true")
        self.settle()

    def settle(self) -> None:
        """The connectors run. A restart that was asked for in a rebalance is asked for again: Connect forgets it."""
        deadline = time.monotonic() + 240
        again = time.monotonic() + 60
        while resting := [name for name in self.connect.connectors if self.connect.state(name) != "RUNNING"]:
            self.tend()
            if time.monotonic() > deadline:
                states = {name: self.connect.state(name) for name in resting}
                raise ComponentFailedError("Kafka Connect", f"has connectors that do not run: {states}", "")
            if time.monotonic() > again:
                again += 60
                for name in resting:
                    self._ask("POST", f"{name}/restart?includeTasks=true")
            time.sleep(_BETWEEN_SECONDS)

    def _broker(self, end: Callable[[], None]) -> None:
        end()
        self.broker.start_again()

    def _connect(self, end: Callable[[], None]) -> None:
        end()
        self.connect.start_again()

    def _database(self, chance: random.Random, *, kill: bool) -> None:
        database = self.databases[chance.choice(INSTANCES)]
        (database.server.kill if kill else database.server.stop)()
        database.start_again()

    def _restart(self, chance: random.Random) -> None:
        self.settle()
        self._ask("POST", f"{chance.choice(self.connect.connectors)}/restart?includeTasks=true")

    def _replay(self, chance: random.Random, *, whole: bool) -> None:
        """A connector begins again where it was once, or at the first record.

        Not one of a replica: a restart among the transactions of the server before is its end (debezium/dbz#1672).
        """
        self.settle()
        able = [name for name in self.connect.connectors if name not in self.failed_over]
        if not able:
            return
        name = chance.choice(able)
        marks = self.bookmarks.get(name, [])
        self._ask("PUT", f"{name}/stop")
        self.connect.wait_until("STOPPED", name)
        if whole or not marks:
            self.connect.ask("DELETE", f"{name}/offsets")
        else:
            self.connect.ask("PATCH", f"{name}/offsets", chance.choice(marks))
        self._ask("PUT", f"{name}/resume")
        self.settle()

    def _ask(self, method: str, what: str) -> Any:
        """None where nobody answers at the moment."""
        try:
            return self.connect.ask(method, what)
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return None


_NO_MATTER: Final = frozenset({"RUNNING", "UNASSIGNED", "STOPPED", "PAUSED", "RESTARTING"})


@contextmanager
def world(story: Story, folder: Path, say: Callable[[str], None], tables: Sequence[ChainTable]) -> Iterator[World]:
    """Start everything, with the tables made; stop everything in the end."""
    with ExitStack() as stack:
        say("starting MariaDB (two instances), Kafka and Kafka Connect")
        databases = {
            name: stack.enter_context(mariadb(name, number, folder / name, SURVIVES, DATED))
            for number, name in enumerate(INSTANCES, 1)
        }
        declare(databases, story.at(0) - 60, tables)
        broker = stack.enter_context(kafka(jars(), folder / "kafka"))
        captured = connect(jars(), broker, list(databases.values()), DATABASE, folder / "connect", with_loads=True)
        worker = stack.enter_context(captured)
        servers = broker.bootstrap_servers
        command = [sys.executable, "-m", "tests.components.chain.distribute"]
        chance = random.Random(story.seed)
        members = stack.enter_context(Members(servers, folder / "members", command, chance))
        declared, capture = folder / "declared", folder / "capture"
        declare_tables(declared, tables)
        taker = stack.enter_context(
            Taker(capture, servers, lake_folder(settings_of(capture, servers).warehouse), declared)
        )
        yield World(databases, broker, worker, members, taker, stack)


def topics(databases: dict[str, MariaDb]) -> dict[str, str]:
    """The topic of each instance."""
    return {name: topic_of(server.name) for name, server in databases.items()}
