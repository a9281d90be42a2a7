"""Messages of the audit to capture: hold a shard's tags, or release them.

The entries are in the state store and are only ever added. Capture takes in an entry with a commit of the table, which
records its id.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final, Literal

from pyspark.sql import SparkSession

from tidemark.capture.binlog.finding import FindingKind
from tidemark.capture.commits.commit_state import CommitState
from tidemark.capture.commits.holds import HoldEvent
from tidemark.capture.source_table import SourceTable, topic_of
from tidemark.delta.empty_commit import commit_nothing
from tidemark.state_store.database import Database
from tidemark.state_store.journal import StoredJournal
from tidemark.strict_json import json_text
from tidemark.system.table_location import TableLocation

_REMEMBERED = 20
JOURNAL: Final = "capture holds"
"""The kind of the entries; their subjects are tables."""


@dataclass(frozen=True)
class HoldEntry:
    """An entry for a shard (`a.school.orders_0`); `detail` says what differs, and which command reads it again."""

    id: str
    table: str
    shard: str
    what: Literal["differs", "equal"]
    detail: str = ""


class HoldEntries:
    """The entries of a warehouse."""

    def __init__(self, database: Database) -> None:
        self._entries = StoredJournal(database, JOURNAL)

    def add(self, entry: HoldEntry) -> None:
        """Add an entry, which capture's next step takes in."""
        self._entries.add(entry.table, json_text(asdict(entry), ensure_ascii=False))

    def after(self, table: str, done: Sequence[str]) -> list[HoldEntry]:
        """The entries of a table after the last one whose id is in `done`, in order."""
        mine = [HoldEntry(**json.loads(content)) for content in self._entries.of(table)]
        last = max((place for place, entry in enumerate(mine) if entry.id in done), default=-1)
        return mine[last + 1 :]


def hold_or_release(
    spark: SparkSession,
    table: SourceTable,
    warehouse: TableLocation,
    state: CommitState,
    entries: Sequence[HoldEntry],
    version: int | None,
) -> tuple[int, CommitState]:
    """Take in entries with one commit that changes no row. Returns the version made and the new state.

    Call it with the thread's own session; `version` is the table's current version.
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
