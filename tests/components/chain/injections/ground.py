"""What an injection works on: the databases by the story's clock, the lake's own log, and the way out of a hold."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

from tests.components.chain.story_clock import LOADER
from tests.components.chain.tables import DATABASE, ChainTable
from tests.lake_folder import lake_folder
from tidemark.capture.commits.commit_state import CommitState, last_commit
from tidemark.capture.heartbeat.source_databases import HeartbeatDatabase
from tidemark.capture.operations.reload_order import order_reload
from tidemark.errors import TransientError
from tidemark.state_store.database import Database
from tidemark.system.free_port import LOOPBACK

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from pathlib import Path

    from tests.components.chain.story import Story
    from tests.components.chain.world import World
    from tests.components.chain.writer import Writer
    from tidemark.capture.source_table import SourceTable
    from tidemark.system.settings import Settings

_SECONDS: Final = 300.0
_PAUSE_SECONDS: Final = 0.5
_BEAT_SECONDS: Final = 20.0


@dataclass
class Ground:
    """`uncounted` are tables whose changes cannot be counted any more: they were read again, or lost with a topic."""

    story: Story
    world: World
    writer: Writer
    settings: Settings
    tend: Callable[[], None]
    say: Callable[[str], None]
    declared: Path
    problems: list[str] = field(default_factory=list)
    uncounted: set[str] = field(default_factory=set)
    counts_topics: bool = True

    def execute(self, instance: str, *statements: str) -> None:
        """On one instance, between two transactions of the story and at its time."""

        def run(sessions: Any, at: int) -> None:
            for statement in statements:
                sessions.execute(instance, f"SET TIMESTAMP = {at}; {statement}")

        self.writer.between(run)

    def tables(self, *names: str) -> list[ChainTable]:
        """Those that are captured now, or some of them."""
        return [table for table in self.writer.tables if not names or table.name in names]

    def path(self, table: ChainTable) -> Path:
        return lake_folder(self.settings.warehouse / table.name)

    def state(self, table: ChainTable) -> CommitState:
        """Where the capture stands in a table."""
        last = last_commit(self.path(table))
        return CommitState() if last is None else last.state

    def said_since(self, mark: int, text: str) -> bool:
        """Whether a step behind so many said that, as a warning or an error."""
        return any(text in line for step in [*self.world.taker.steps()][mark:] for line in _said(step))

    def move(self) -> None:
        """Two transactions of every server: a heartbeat that is the one before would be none. Inside of `between`."""
        self.writer.beat(-1)
        self.writer.beat()

    def steps(self) -> int:
        return len([*self.world.taker.steps()])

    def wait(self, what: str, holds: Callable[[], bool], seconds: float = _SECONDS) -> bool:
        """Until it holds; what does not come is a problem of the run."""
        deadline = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > deadline:
                self.problems.append(f"after {seconds:.0f} s: not {what}")
                return False
            self.tend()
            time.sleep(_PAUSE_SECONDS)
        return True

    def reload(self, table: ChainTable, shard: str | None = None) -> None:
        """`tidemark capture reload`, until all is there."""
        self.until_reloaded(table, self.order(table, shard), shard)

    def order(self, table: ChainTable, shard: str | None = None) -> str:
        """Ask for a reload; its id."""
        self.uncounted.add(table.name)
        request = self._order(table.source(), shard)
        self.say(f"reload of {shard or table.name} asked for")
        return request

    def until_reloaded(self, table: ChainTable, request: str, shard: str | None = None) -> None:
        """Until all is there, and nothing of it is held any more; what the connector gives up is asked for again."""
        mark, beaten = self.steps(), time.monotonic()

        def is_there() -> bool:
            nonlocal mark, beaten, request
            if time.monotonic() > beaten + _BEAT_SECONDS:  # the story rests, and a slice may wait for its end
                beaten = time.monotonic()
                self.writer.between(lambda _, __: self.move())
            if self.said_since(mark, "its load in the connector ended with"):
                self.world.restart_connectors()
                mark, request = self.steps(), self.order(table, shard)
            state = self.state(table)
            return request in state.reloads and not state.initial_load_pending

        self.wait(f"{shard or table.name} reloaded", is_there)
        left = [hold for hold in self.state(table).holds.open if shard in (None, hold.shard)]
        if left:
            self.problems.append(f"{table.name} is held after its reload: {left}")

    def _order(self, source: SourceTable, shard: str | None) -> str:
        instances = source.instances if shard is None else (shard.partition(".")[0],)
        deadline = time.monotonic() + _SECONDS
        while True:
            try:
                self.world.settle()
                addresses = [self.address(name) for name in instances]
                return order_reload(self.settings, Database.of(self.settings), source, addresses, shard).id
            except TransientError:
                if time.monotonic() > deadline:
                    raise
                self.tend()

    def address(self, instance: str) -> HeartbeatDatabase:
        """By an account whose sessions have the story's time."""
        server = self.world.databases[instance]
        return HeartbeatDatabase(instance, LOOPBACK, server.port, DATABASE, LOADER, server.password)


class ChainInjection(Protocol):
    """Something that is done while changes flow."""

    def perform(self, ground: Ground, chance: random.Random) -> None:
        """Do it."""

    def expect(self, ground: Ground) -> None:
        """Wait for what the capture has to say of it, and take the table out of the hold."""


def _said(step: dict[str, Any]) -> list[str]:
    return [*step.get("warnings", []), *step.get("halted", []), f"{step.get('error', '')} {step.get('text', '')}"]
