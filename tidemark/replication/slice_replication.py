"""Replicates one slice to one replica: plans, copies and verifies files, then publishes them in one commit.

Each state is stored before the work of the next one begins. After a crash, work begins again at the plan: existing
files are read instead of sent, and a commit that was made is found in the replica's log.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from deltalake.exceptions import DeltaError

from tidemark.delta.commit_content import commit_content
from tidemark.delta.errors import VersionGoneError
from tidemark.delta.internals.version_content import (
    VersionContent,
    file_steps,
    newest_content,
    put_commit,
    version_content,
)
from tidemark.delta.open_table import open_table
from tidemark.delta.own_commit import replica_told
from tidemark.delta.published_slice import TERM
from tidemark.errors import TransientError
from tidemark.replication.copied_files import FileCopier, file_names, source_checksums
from tidemark.replication.errors import FencedReplicaError, OtherRowsError, ReplicaChangedError
from tidemark.replication.file_plan import FilePlan, file_plan, groups_by_name, groups_of
from tidemark.replication.replica_commit import (
    CHECKSUM,
    VECTOR_CHECKSUM,
    ReplicaCommit,
    commit_actions_of,
    fault_actions_of,
    require_replica_of,
)
from tidemark.replication.slice_files import rows_of
from tidemark.state_store.slice_copies import CopyState
from tidemark.system.crash_points import crash_point
from tidemark.system.utc_clock import utc_now

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from datetime import datetime

    from tidemark.delta.internals.version_content import FileKey
    from tidemark.replication.bandwidth import Bandwidth
    from tidemark.replication.slice_files import SliceFiles
    from tidemark.state_store.slice_copies import SliceCopy
    from tidemark.system.table_location import TableLocation

    Files = Mapping[FileKey, Mapping[str, Any]]

_ATTEMPTS: Final = 10
_LONGEST_WALK: Final = 1_000
"""The most commits that are searched for moved rows; with more, all new files are sent."""
_CHECKPOINT_EVERY: Final = 20
_LOGGER: Final = logging.getLogger("tidemark.replication")


@dataclass(frozen=True)
class SliceReplication:
    """`basis` is the source version of the slice's files at the replica; None if unknown.

    `told` is what the source knows about the slice beside its files (`told_slice.py`). `note` stores a state while the
    place's lease is held. `term` is the one in which this center computes the table: if the replica's log has the fence
    of a later term, nothing is published.
    """

    source: TableLocation
    replica: TableLocation
    files: SliceFiles
    basis: int | None
    bandwidth: Bandwidth
    note: Callable[[SliceCopy], None]
    clock: Callable[[], datetime] = utc_now
    told: Mapping[str, Any] = field(default_factory=dict)
    term: int = 1

    def run(self, copy: SliceCopy) -> SliceCopy:
        """Replicate a copy and return its published state.

        Raises the errors of tidemark.replication, of the tables' logs and of stores, and OSError. After an error
        nothing is visible at the replica.
        """
        source = version_content(self.source, copy.version)
        for _ in range(_ATTEMPTS):
            replica = newest_content(self.replica)
            if replica is not None:
                require_replica_of(source, replica, self.replica)
                self._require_term(replica)
                made = self._made_before(copy, replica)
                if made is not None:
                    return self._done(copy, made)
            copy, publication = self._copied(copy, source, replica)
            version = 0 if replica is None else replica.version + 1
            crash_point("replicate.before_publish")
            if put_commit(self.replica, version, commit_actions_of(publication, replica)):
                crash_point("replicate.published")
                return self._done(copy, version)
        raise ReplicaChangedError.of(self.replica, _ATTEMPTS)

    def tell_fault(self, copy: SliceCopy, fault: str) -> SliceCopy:
        """Commit to the replica's log that its slice is wrong, or that it is not any more. No file changes.

        Raises ReplicaChangedError, and the errors of logs and stores.
        """
        told = {"slice": str(copy.slice), "generation": copy.generation, "version": copy.version, "fault": fault}
        for _ in range(_ATTEMPTS):
            replica = newest_content(self.replica)
            if replica is None:  # the mender publishes everything again
                return copy
            self._require_term(replica)
            if put_commit(self.replica, replica.version + 1, fault_actions_of(told, replica.version + 1)):
                noted = copy.with_fault(fault)
                self.note(noted)
                return noted
        raise ReplicaChangedError.of(self.replica, _ATTEMPTS)

    def _require_term(self, replica: VersionContent) -> None:
        """Raise FencedReplicaError. A fence that is committed after this check makes the commit fail."""
        if replica.marks.get(TERM, 1) > self.term:
            raise FencedReplicaError.of(self.replica, replica.marks[TERM], self.term)

    def _done(self, copy: SliceCopy, version: int) -> SliceCopy:
        done = copy.done(version, self.clock())
        self.note(done)
        if version and version % _CHECKPOINT_EVERY == 0:
            self._write_checkpoint(version)
        return done

    def _write_checkpoint(self, version: int) -> None:
        """Write a checkpoint. It only makes readers faster, so a failure is logged."""
        try:
            open_table(self.replica, version).create_checkpoint()
        except (DeltaError, OSError, TransientError) as error:
            _LOGGER.warning("no checkpoint of version %d of %s: %s", version, self.replica, error)

    def _copied(
        self, copy: SliceCopy, source: VersionContent, replica: VersionContent | None
    ) -> tuple[SliceCopy, ReplicaCommit]:
        """Copy and verify everything that the commit needs."""
        wanted = self.files.of(source)
        plan = self._plan(source, wanted, replica, copy.damaged)
        copy = copy.at(CopyState.COPYING, self.clock(), len(wanted), sum(int(add["size"]) for add in wanted.values()))
        self.note(copy)
        names = {key: file_names(wanted[key], self.source) for key in plan.added}
        sizes = {name: size for files in names.values() for name, size in files.items()}
        copied = FileCopier(self.source, self.replica, self.bandwidth).copy(sizes)
        copy = copy.at(CopyState.COPIED, self.clock(), sent_bytes=sum(file.sent for file in copied.values()))
        self.note(copy)
        crash_point("replicate.copied")
        tags = {
            key: dict(zip((CHECKSUM, VECTOR_CHECKSUM), (copied[name].checksum for name in files), strict=False))
            for key, files in names.items()
        }
        self._require_rows(copy, plan, wanted, replica)
        copy = copy.at(CopyState.VERIFIED, self.clock())
        self.note(copy)
        told = {**self.told, "slice": str(copy.slice), "generation": copy.generation, "version": copy.version}
        return copy, ReplicaCommit(source, plan, told, tags)

    def _require_rows(self, copy: SliceCopy, plan: FilePlan, wanted: Files, replica: VersionContent | None) -> None:
        """Raise OtherRowsError if the replica would have another number of rows than the slice."""
        kept = [replica.files[key] for key in plan.kept] if replica else []
        expected = rows_of(wanted.values())
        there = rows_of([*kept, *(wanted[key] for key in plan.added)])
        if expected is not None and there is not None and expected != there:
            raise OtherRowsError.of(self.replica, str(copy.slice), expected, there)

    def _made_before(self, copy: SliceCopy, replica: VersionContent) -> int | None:
        """The version that already published this generation, if the process died before it stored that."""
        if copy.state is CopyState.PLANNED and not copy.attempts:
            return None
        seen = copy.published.replica_version if copy.published else -1
        for version in range(replica.version, max(seen, replica.version - _LONGEST_WALK), -1):
            content = commit_content(self.replica, version)
            told = replica_told(content.info) if content else None
            if told and told["slice"] == str(copy.slice) and "fault" not in told:
                same = (told["generation"], told["version"]) == (copy.generation, copy.version)
                return version if same else None
        return None

    def _plan(
        self, source: VersionContent, wanted: Files, replica: VersionContent | None, damaged: Collection[str]
    ) -> FilePlan:
        """The plan. Damaged files of the replica count as missing, and are removed from its log."""
        listed = self.files.of(replica) if replica else {}
        lost = {
            key
            for key, add in listed.items()
            if damaged and not file_names(add, self.replica).keys().isdisjoint(damaged)
        }
        there = {key: add for key, add in listed.items() if key not in lost}
        plan = self._plan_for(source, wanted, there)
        return replace(plan, removed=plan.removed | (lost - plan.added))

    def _plan_for(self, source: VersionContent, wanted: Files, there: Files) -> FilePlan:
        plan = file_plan(groups_by_name(wanted, there.keys()), there.keys())
        if plan.added and self.basis is not None:
            plan = self._with_stand_ins(source, wanted, there) or plan
        return self._without_equal_files(plan, wanted, there)

    def _with_stand_ins(self, source: VersionContent, wanted: Files, there: Files) -> FilePlan | None:
        """A plan with stand-ins; None if the log does not go back far enough."""
        if self.basis is None or not 0 < source.version - self.basis <= _LONGEST_WALK:
            return None
        try:
            live = self.files.of(version_content(self.source, self.basis))
            steps = list(file_steps(self.source, self.basis, source.version))
        except VersionGoneError:
            return None
        groups = [group for group in groups_of(live, steps, there.keys()) if group.files <= wanted.keys()]
        return file_plan(groups, there.keys())

    def _without_equal_files(self, plan: FilePlan, wanted: Files, there: Files) -> FilePlan:
        """The plan without files that were written again with the same bytes: the old file stands in."""
        by_checksum = {
            (tags[CHECKSUM], int(there[key]["size"])): key
            for key in sorted(plan.removed)
            if not key.vector and CHECKSUM in (tags := there[key].get("tags") or {})
        }
        sizes = {size for _, size in by_checksum}
        names = {unquote(key.path): key for key in plan.added if not key.vector and int(wanted[key]["size"]) in sizes}
        kept, added = set(plan.kept), set(plan.added)
        for name, checksum in source_checksums(self.source, sorted(names)).items():
            same = by_checksum.pop((checksum, int(wanted[names[name]]["size"])), None)
            if same is not None:
                kept.add(same)
                added.remove(names[name])
        return FilePlan(frozenset(kept), frozenset(added), plan.removed - kept)
