"""The lake's side of a comparison: capture's progress, the rows, and deletions from the topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tidemark.capture.audit.deleted_keys import DeletedKeys, Deletions
from tidemark.capture.audit.group_checksum import differing
from tidemark.capture.audit.row_comparison import RowLook
from tidemark.capture.commits.commit_state import CommitState, last_commit
from tidemark.capture.commits.read_progress import InstanceProgress, ReadProgress
from tidemark.capture.source_table import topic_of
from tidemark.delta.delta_rs_table import current_version

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.capture.audit.lake_reader import LakeReader
    from tidemark.capture.audit.look import PendingLook
    from tidemark.capture.source.intake import Intake
    from tidemark.capture.source_table import SourceTable
    from tidemark.state_store.database import Database
    from tidemark.system.settings import Settings
    from tidemark.system.table_location import TableLocation


class LakeAt(NamedTuple):
    """A version of a table, and a state that is not older than it; `progress` was read before both."""

    version: int
    state: CommitState
    progress: InstanceProgress


class LakeSide:
    """The lake's side of one captured table."""

    def __init__(
        self, lake: LakeReader, settings: Settings, source: SourceTable, intake: Intake, database: Database
    ) -> None:
        self._lake, self._source = lake, source
        self._progress = ReadProgress(database)
        self._path: TableLocation = settings.warehouse / source.name
        self._deleted = DeletedKeys(lake.spark, intake, source)

    def progress(self, instance: str) -> InstanceProgress | None:
        """How far the table has read an instance; None before capture's first step."""
        return self._progress.read(self._source.name).get(instance)

    def now(self, instance: str) -> LakeAt | None:
        """The current version of the table; None before capture's first step."""
        progress = self.progress(instance)
        version = current_version(self._path)
        # Read after the version, so that the state's offsets are not older than the version's rows.
        last = last_commit(self._path)
        return LakeAt(version, last.state, progress) if progress and last and version is not None else None

    def differing_buckets(self, looks: Sequence[PendingLook], at: LakeAt) -> list[tuple[int, ...]]:
        """The buckets that differ, for each look at groups of one shard."""
        patches = [look.task.patch for look in looks]
        groups = self._lake.groups(patches, looks[0].task.shard.compared, at.version)
        return [differing(look.groups, lake) for look, lake in zip(looks, groups, strict=True)]

    def rows(self, looks: Sequence[PendingLook], at: LakeAt) -> list[RowLook]:
        """Both sides of each look at rows of one shard."""
        patches = [look.task.patch for look in looks]
        lakes = self._lake.rows(patches, looks[0].task.shard.compared, at.version)
        lacking = [bool(look.rows.keys() - lake.keys()) for look, lake in zip(looks, lakes, strict=True)]
        deletions = self._deletions([look for look, lacks in zip(looks, lacking, strict=True) if lacks], at)
        return [
            RowLook(look.since, look.rows, lake, deletions.since(look.since) if lacks else frozenset())
            for look, lake, lacks in zip(looks, lakes, lacking, strict=True)
        ]

    def _deletions(self, lacking: Sequence[PendingLook], at: LakeAt) -> Deletions:
        """The deletions that may explain missing rows, read once for all looks."""
        if not lacking:
            return Deletions(0, {})
        patch, shard = lacking[0].task.patch, lacking[0].task.shard
        start = min(look.since for look in lacking)
        end = max(at.progress.offset, at.state.offsets.get(topic_of(patch.instance), 0))
        return self._deleted.between(patch, shard.compared, shard.columns, start, end)
