"""What the audit tells capture: shards whose tags are held from now on, and shards that are the source's again.

Entries in the state store, only ever added to. Capture takes one in with a commit of the table, which says its id.
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
    """Of a shard (`a.school.orders_0`) of a table; `detail` says what differs, and what reads it again."""

    id: str
    table: str
    shard: str
    what: Literal["differs", "equal"]
    detail: str = ""


class HoldEntries:
    """Those of a warehouse."""

    def __init__(self, database: Database) -> None:
        self._entries = StoredJournal(database, JOURNAL)

    def add(self, entry: HoldEntry) -> None:
        """To be taken in by the next step."""
        self._entries.add(entry.table, json_text(asdict(entry), ensure_ascii=False))

    def after(self, table: str, done: Sequence[str]) -> list[HoldEntry]:
        """Those of a table that came after the last one that was `done` (ids), in order."""
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
