"""A whole run: the story written and disturbed, then everything compared."""

from __future__ import annotations

import random
import time
from queue import Empty
from typing import TYPE_CHECKING, Final

from tests.components.chain import logical
from tests.components.chain.capture import settings_of
from tests.components.chain.injections.ground import Ground
from tests.components.chain.injections.kinds import INJECTIONS
from tests.components.chain.tables import EVENTS, PERIOD, TABLES
from tests.components.chain.told import Told, count_kinds
from tests.components.chain.truth import captured_rows, difference
from tests.components.chain.untagged import untagged
from tests.components.chain.verdict import Verdict
from tests.components.chain.world import World, topics, world
from tests.components.chain.writer import Writer
from tests.lake_folder import lake_folder
from tidemark.state_store.snapshot_registry import SnapshotRegistry

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.components.chain.story import Injection, Story

CAPTURED: Final = (*TABLES, EVENTS)
_TELL_SECONDS: Final = 15.0
_TEND_SECONDS: Final = 2.0
_END_SECONDS: Final = 1200.0


class Play:
    """One run in a folder; `say` gets a line now and then."""

    def __init__(self, story: Story, running: World, folder: Path, rate: float, say: Callable[[str], None]) -> None:
        self.story, self.world = story, running
        self.settings = settings_of(running.taker.folder, running.broker.bootstrap_servers)
        self.registry = SnapshotRegistry.at(self.settings.state_db)
        self.writer = Writer(story, running.databases, folder / "truth", rate, CAPTURED)
        self.injected: list[Injection] = []
        self.problems: list[str] = []
        self._say, self._told = say, 0.0
        self.ground = Ground(
            story, running, self.writer, self.settings, self._tend, say, folder / "declared", self.problems
        )

    def run(self) -> Verdict:
        """Write, disturb, wait for the end, and compare."""
        self.writer.start()
        while (due := self._next()) is not None:
            self._tell(f"injection {due.number} of {self.story.injected}: {due.kind}", always=True)
            self._inject(due)
            self.injected.append(due)
        if self.writer.failure is not None:
            raise self.writer.failure
        self._tell("everything is written", always=True)
        self._drain("snapshots without a tag or a reason", lambda: len(self._unexplained()))
        contents = self.writer.now()
        self._drain("tables that are not the database's", lambda: sum(map(bool, self._behind(contents))))
        names = topics(self.world.databases)
        servers = self.world.broker.bootstrap_servers
        if self.world.distributes:
            self._drain("messages to send on", lambda: logical.waiting(servers, names.values()))
        self.writer.end()
        self.world.taker.stop()
        self.world.end_distribution()
        self._tell("comparing", always=True)
        verdict = Verdict(problems=self.problems)
        verdict.tables(self.writer.tables, lake_folder(self.settings.warehouse), contents)
        verdict.snapshots(
            self._expected(), self._untagged(), lake_folder(self.settings.warehouse), self.registry, self.writer
        )
        if self.ground.counts_topics:
            verdict.topics(servers, names, lake_folder(self.settings.warehouse), self.ground.uncounted)
        verdict.sessions = self.world.sessions_lost
        return verdict

    def _inject(self, due: Injection) -> None:
        made = INJECTIONS.get(due.kind)
        if made is None:
            self.world.inject(due)
            return
        injection = made()
        injection.perform(self.ground, random.Random(due.draw))
        injection.expect(self.ground)

    def _expected(self) -> list[tuple[str, str]]:
        """Table and slice, where the database was asked; of a table that came later from its first slice on."""
        return [
            (table.name, key)
            for table in self.writer.tables
            for key in self.story.slices
            if key >= table.first_slice and self.writer.truth(table.name, key).exists()
        ]

    def _tagged(self) -> set[tuple[str, str]]:
        tables = self.writer.tables
        return {(table.name, snapshot.slice) for table in tables for snapshot in self.registry.of(table.name, PERIOD)}

    def _untagged(self) -> dict[tuple[str, str], str | None]:
        steps = list(self.world.taker.steps())
        tables, warehouse = self.writer.tables, self.settings.warehouse
        return untagged(tables, self._expected(), self._tagged(), lake_folder(warehouse), steps)

    def _unexplained(self) -> list[tuple[str, str]]:
        return [of_slice for of_slice, reason in self._untagged().items() if reason is None]

    def _next(self) -> Injection | None:
        """The next that is due; meanwhile all that died by itself is looked after."""
        while True:
            try:
                return self.writer.due.get(timeout=_TEND_SECONDS)
            except Empty:
                self._tend()

    def _tend(self) -> None:
        self.world.tend()
        self._tell("")

    def _drain(self, what: str, left: Callable[[], int]) -> None:
        deadline = time.monotonic() + _END_SECONDS
        while count := left():
            if time.monotonic() > deadline:
                self.problems.append(f"{count} {what} after {_END_SECONDS:.0f} s")
                return
            self._tend()
            time.sleep(_TEND_SECONDS)

    def _behind(self, contents: dict[str, dict[tuple[object, ...], int]]) -> list[bool]:
        return [
            bool(
                difference(
                    captured_rows(lake_folder(self.settings.warehouse / table.name), table), contents[table.name]
                )
            )
            for table in self.writer.tables
        ]

    def _tell(self, what: str, *, always: bool = False) -> None:
        if not always and time.monotonic() < self._told + _TELL_SECONDS:
            return
        self._told = time.monotonic()
        self.world.bookmark()
        self._say(
            f"step {self.writer.step + 1} of {self.story.steps}: {self.writer.written:,} written, "
            f"{self.world.taker.count_taken():,} captured, "
            f"{len(self._tagged())} of {len(CAPTURED) * self.story.hours} tagged{what and ', '}{what}"
        )


def play(story: Story, folder: Path, rate: float, say: Callable[[str], None], command: str) -> Told:
    """The whole of it; `problems` are empty when everything held."""
    begun = time.monotonic()
    with world(story, folder, say, CAPTURED) as running:
        play_ = Play(story, running, folder, rate, say)
        verdict = play_.run()
        steps = list(running.taker.steps())
        # What was held on the way is in the slices' reasons.
        held = set(steps[-1].get("halted", [])) if steps else set()
        late = sum(step.get("late", 0) for step in steps)
        return Told(
            seed=story.seed,
            command=command,
            injections=count_kinds([injection.kind for injection in play_.injected]),
            changes=verdict.changes,
            captured=verdict.captured,
            messages=verdict.messages,
            sent_again=verdict.sent_again,
            rows=verdict.rows,
            snapshots=verdict.snapshot_count,
            snapshots_equal=verdict.equal,
            silently_wrong=verdict.wrong,
            untagged=verdict.untagged,
            rows_compared=verdict.compared,
            lost=verdict.lost,
            doubled=verdict.doubled,
            torn=verdict.torn,
            late=late,
            sessions_lost=verdict.sessions,
            tended=running.tended,
            errors=running.taker.errors(),
            writes_lost=play_.writer.lost,
            seconds=round(time.monotonic() - begun, 1),
            problems=[*verdict.problems, *(f"halted: {instance}" for instance in sorted(held))],
        )
