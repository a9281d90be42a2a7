"""The end of a run: every table and every snapshot against the database, every topic against the instances' topics."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.components.chain import logical
from tests.components.chain.tables import PERIOD, TABLES
from tests.components.chain.truth import Content, Difference, captured_rows, difference, kept_rows
from tidemark.capture.commits.commit_state import commits

if TYPE_CHECKING:
    from pathlib import Path

    from tests.components.chain.story import Story
    from tests.components.chain.writer import Writer
    from tidemark.state_store.snapshot_registry import SnapshotRegistry


@dataclass
class Verdict:
    """Rows and snapshots that were compared, and what was wrong."""

    rows: int = 0
    compared: int = 0
    equal: int = 0
    changes: int = 0
    captured: int = 0
    messages: int = 0
    sent_again: int = 0
    sessions: int = 0
    lost: int = 0
    doubled: int = 0
    torn: int = 0
    problems: list[str] = field(default_factory=list)

    def tables(self, warehouse: Path, contents: dict[str, Content]) -> None:
        """The tables as they are now."""
        for table in TABLES:
            self.rows += len(contents[table.name])
            wrong = difference(captured_rows(warehouse / table.name, table), contents[table.name])
            self._note(f"{table.name} in the end", wrong)

    def snapshots(self, story: Story, warehouse: Path, registry: SnapshotRegistry, writer: Writer) -> None:
        """Each at its version, against what the database answered then."""
        for table in TABLES:
            tagged = {snapshot.slice: snapshot for snapshot in registry.of(table.name, PERIOD)}
            for key in story.slices:
                if key not in tagged:
                    self.problems.append(f"{table.name} {key} is not tagged")
                    continue
                expected = kept_rows(writer.truth(table.name, key))
                rows = captured_rows(warehouse / table.name, table, tagged[key].version)
                self.compared += len(rows)
                wrong = difference(rows, expected)
                self.equal += not wrong
                self._note(f"{table.name} {key} (version {tagged[key].version})", wrong)

    def topics(self, servers: str, names: dict[str, str], warehouse: Path) -> None:
        """Each change once in the lake's count, each message once in the logical topics."""
        instances = {name: logical.came(servers, topic) for name, topic in names.items()}
        self.messages = sum(instance.messages for instance in instances.values())
        self.sent_again = sum(instance.again for instance in instances.values())
        for table in TABLES:
            source = table.source()
            wanted = sum(
                count
                for name, came in instances.items()
                for physical, count in came.changes.items()
                if source.holds(name, physical)
            )
            merged = sum(commit.state.counts["changes"] for commit in commits(warehouse / table.name))
            self.changes, self.captured = self.changes + wanted, self.captured + merged
            if wanted != merged:
                self.problems.append(f"{table.name}: {merged:,} changes captured instead of {wanted:,}")
        self.problems += logical.problems(servers, instances)

    def _note(self, what: str, wrong: Difference) -> None:
        self.lost, self.doubled = self.lost + wrong.lost, self.doubled + wrong.doubled
        self.torn += wrong.torn + wrong.extra
        if wrong:
            self.problems.append(f"{what}: {wrong}")
