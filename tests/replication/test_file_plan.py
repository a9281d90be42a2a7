"""A replica that does what the plan says has exactly the rows of the source, and is sent no rows that only moved."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from tidemark.delta.internals.version_content import FileKey, FileStep
from tidemark.replication.file_plan import file_plan, groups_by_name, groups_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.replication.file_plan import FilePlan

Rows = Counter[int]


@dataclass
class Table:
    """A table of two partitions, each file with its rows: what a reader sees is the sum of the live files."""

    rows: dict[FileKey, Rows] = field(default_factory=dict)
    partition: dict[FileKey, str] = field(default_factory=dict)
    live: set[FileKey] = field(default_factory=set)
    steps: list[FileStep] = field(default_factory=list)
    numbers: int = 0

    def add(self, partition: str, rows: Rows) -> FileKey:
        self.numbers += 1
        key = FileKey(f"{partition}/{self.numbers}")
        self.rows[key], self.partition[key] = rows, partition
        return key

    def commit(self, removed: set[FileKey], added: set[FileKey], *, changes_rows: bool) -> None:
        adds = {key: {"partitionValues": {"p": self.partition[key]}} for key in added}
        self.steps.append(FileStep(frozenset(removed), adds, changes_rows))
        self.live = (self.live - removed) | added

    def append(self, partition: str, number: int) -> None:
        self.commit(set(), {self.add(partition, Counter({self.numbers: number + 1}))}, changes_rows=True)

    def cluster(self, chosen: list[FileKey], into: int) -> None:
        """The rows of some files into others, partition by partition, in one commit."""
        added = set()
        for partition in {self.partition[key] for key in chosen}:
            rows = [row for key in chosen if self.partition[key] == partition for row in self.rows[key].elements()]
            added |= {self.add(partition, Counter(rows[at::into])) for at in range(into)}
        self.commit(set(chosen), added, changes_rows=False)

    def change(self, chosen: list[FileKey]) -> None:
        """Each file is written again with a row more."""
        added = {self.add(self.partition[key], self.rows[key] + Counter({1_000 + self.numbers: 1})) for key in chosen}
        self.commit(set(chosen), added, changes_rows=True)

    def hide(self, key: FileKey) -> None:
        """The same file with a deletion vector."""
        hidden = FileKey(key.path, f"{key.vector}+")
        self.rows[hidden] = self.rows[key] - Counter([next(iter(self.rows[key] or [0]))])
        self.partition[hidden] = self.partition[key]
        self.commit({key}, {hidden}, changes_rows=True)

    def bring_back(self, version: int) -> None:
        """A repair: the files of an older version, those that are live stay."""
        then = self.live_at(version)
        self.commit(self.live - then, then - self.live, changes_rows=True)

    def live_at(self, version: int) -> set[FileKey]:
        live = set[FileKey]()
        for step in self.steps[:version]:
            live = (live - step.removed) | set(step.added)
        return live

    def seen(self, keys: set[FileKey] | frozenset[FileKey]) -> Rows:
        return sum((self.rows[key] for key in keys), Counter())

    def adds(self, keys: set[FileKey]) -> Mapping[FileKey, Mapping[str, object]]:
        return {key: {"partitionValues": {"p": self.partition[key]}} for key in keys}


def plan_of(table: Table, basis: int, there: set[FileKey]) -> FilePlan:
    return file_plan(groups_of(table.adds(table.live_at(basis)), table.steps[basis:], there), there)


acts = st.tuples(
    st.sampled_from(["append", "cluster", "change", "hide", "bring back", "publish"]),
    st.integers(0, 30),
    st.integers(1, 3),
)


@settings(max_examples=300)
@given(st.lists(acts, min_size=1, max_size=15))
def test_readers_of_the_replica_see_the_rows_of_the_source(told: list[tuple[str, int, int]]) -> None:
    table = Table()
    for number in (0, 2, 4, 1):
        table.append("ab"[number % 2], number)
    there, basis = set(table.live), len(table.steps)
    for act, number, size in [*told, ("publish", 0, 1)]:
        live = sorted(table.live)
        chosen = [live[(number + at * 7) % len(live)] for at in range(size)] if live else []
        match act:
            case "append":
                table.append("ab"[number % 2], number)
            case "cluster" if chosen:
                table.cluster(list(dict.fromkeys(chosen)), size)
            case "change" if chosen:
                table.change(list(dict.fromkeys(chosen)))
            case "hide" if chosen:
                table.hide(chosen[0])
            case "bring back" if table.steps:
                table.bring_back(number % len(table.steps) + 1)
            case "publish":
                plan = plan_of(table, basis, there)
                assert plan.kept | plan.removed == there
                assert not plan.kept & plan.removed
                assert not plan.added & there
                assert plan.added <= table.live
                there, basis = {*plan.kept, *plan.added}, len(table.steps)
                assert +table.seen(there) == +table.seen(table.live)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 4)), max_size=6))
def test_rows_that_only_moved_are_not_sent_again(clusterings: list[tuple[int, int]]) -> None:
    table = Table()
    for number in range(6):
        table.append("ab"[number % 2], number)
    basis, there = len(table.steps), set(table.live)
    for number, size in clusterings:
        live = sorted(table.live)
        table.cluster(list({live[(number + at) % len(live)] for at in range(size)}), size)
    table.append("a", 9)
    plan = plan_of(table, basis, there)
    assert (len(plan.added), plan.removed) == (1, frozenset())


def test_a_plan_by_name_sends_all_new_files() -> None:
    table = Table()
    table.append("a", 1)
    there = set(table.live)
    table.cluster(sorted(there), 2)
    plan = file_plan(groups_by_name(table.live, there), there)
    assert plan.added == table.live
    assert plan.removed == there
