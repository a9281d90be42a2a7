"""The end of a run: every table and every snapshot against the database, every topic against the instances' topics."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.components.chain import logical
from tests.components.chain.tables import PERIOD, TABLES, ChainTable
from tests.components.chain.truth import Content, Difference, captured_rows, difference, kept_rows
from tidemark.capture.commits.commit_state import commits

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

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
    wrong: int = 0
    snapshot_count: int = 0
    untagged: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def tables(self, tables: Sequence[ChainTable], warehouse: Path, contents: dict[str, Content]) -> None:
        """The tables as they are now."""
        for table in tables:
            self.rows += len(contents[table.name])
            wrong = difference(captured_rows(warehouse / table.name, table), contents[table.name])
            self._note(f"{table.name} in the end", wrong)

    def snapshots(
        self,
        expected: Sequence[tuple[str, str]],
        untagged: Mapping[tuple[str, str], str | None],
        warehouse: Path,
        registry: SnapshotRegistry,
        writer: Writer,
    ) -> None:
        """Each at its version, against what the database answered then; or it has no tag, and a reason."""
        tables = {table.name: table for table in writer.tables}
        self.untagged = {f"{name} {key}": why for (name, key), why in untagged.items() if why is not None}
        self.problems += [
            f"{name} {key} is not tagged, and nobody says why" for (name, key), why in untagged.items() if not why
        ]
        self.snapshot_count = len(expected) - len(untagged)
        for name, key in expected:
            if (name, key) not in untagged:
                self._snapshot(tables[name], key, warehouse, registry, kept_rows(writer.truth(name, key)))

    def _snapshot(
        self, table: ChainTable, key: str, warehouse: Path, registry: SnapshotRegistry, expected: Content
    ) -> None:
        tagged = registry.get(table.name, PERIOD, key)
        assert tagged is not None
        rows = captured_rows(warehouse / table.name, table, tagged.version)
        self.compared += len(rows)
        wrong = difference(rows, expected)
        self.equal += not wrong
        self.wrong += bool(wrong)
        self._note(f"{table.name} {key} (version {tagged.version})", wrong)

    def topics(self, servers: str, names: dict[str, str], warehouse: Path, uncounted: Collection[str]) -> None:
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
            if wanted != merged and table.name not in uncounted:
                self.problems.append(f"{table.name}: {merged:,} changes captured instead of {wanted:,}")
        self.problems += logical.problems(servers, instances)

    def _note(self, what: str, wrong: Difference) -> None:
        self.lost, self.doubled = self.lost + wrong.lost, self.doubled + wrong.doubled
        self.torn += wrong.torn + wrong.extra
        if wrong:
            self.problems.append(f"{what}: {wrong}")
