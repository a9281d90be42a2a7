"""What the audit tells capture: shards whose tags are held from now on, and shards that are the source's again.

A file of lines, only ever added to. Capture takes an entry in with one commit of the table, which says its id.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from pyspark.sql import SparkSession

from tidemark.capture.binlog.finding import FindingKind
from tidemark.capture.commits.commit_state import CommitState
from tidemark.capture.commits.holds import HoldEvent
from tidemark.capture.source_table import SourceTable, topic_of
from tidemark.delta.empty_commit import commit_nothing
from tidemark.system.files import private_directory
from tidemark.system.settings import Settings
from tidemark.system.table_location import TableLocation

_REMEMBERED = 20


@dataclass(frozen=True)
class HoldEntry:
    """Of a shard (`a.school.orders_0`) of a table; `detail` says what differs, and what reads it again."""

    id: str
    table: str
    shard: str
    what: Literal["differs", "equal"]
    detail: str = ""


class HoldEntries:
    """Those of a warehouse."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def of(cls, settings: Settings) -> "HoldEntries":
        """Those that this data folder's capture takes in."""
        return cls(settings.data / "capture" / "audit" / "holds.jsonl")

    def add(self, entry: HoldEntry) -> None:
        """To be taken in by the next step."""
        private_directory(self._path.parent)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(entry), ensure_ascii=False) + "\n")

    def after(self, table: str, done: Sequence[str]) -> list[HoldEntry]:
        """Those of a table that came after the last one that was `done` (ids), in order."""
        mine = [entry for entry in self._all() if entry.table == table]
        last = max((place for place, entry in enumerate(mine) if entry.id in done), default=-1)
        return mine[last + 1 :]

    def _all(self) -> list[HoldEntry]:
        if not self._path.exists():
            return []
        return [HoldEntry(**json.loads(line)) for line in self._path.read_text(encoding="utf-8").splitlines()]


def hold_or_release(
    spark: SparkSession,
    table: SourceTable,
    warehouse: TableLocation,
    state: CommitState,
    entries: Sequence[HoldEntry],
    version: int | None,
) -> tuple[int, CommitState]:
    """Take in entries with one commit that changes no row, behind `version`: (version made, state).

    The session is this thread's own.
    """
    holds = state.holds
    for entry in entries:
        instance = entry.shard.partition(".")[0]
        holds = holds.without_kind(entry.shard, FindingKind.DIFFERS)
        if entry.what == "differs":
            offset = state.offsets.get(topic_of(instance), 0)
            holds = holds.after(HoldEvent(instance, offset, entry.shard, "held", FindingKind.DIFFERS, entry.detail))
    audited = (*state.audited, *(entry.id for entry in entries))[-_REMEMBERED:]
    after = replace(state.next(changes=0, late=0), holds=holds, audited=audited, follows=version).with_identity(
        table.name
    )
    return commit_nothing(spark, warehouse / table.name, after.transaction(table.name)), after
