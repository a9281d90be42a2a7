"""Tags snapshots from Delta commits. The registry is derived from the log, so a crash or a lost file cannot harm it.

For an entity with blocking rules, a version becomes a candidate instead. A run that judges it tags it (A5).
"""

from collections.abc import Collection
from itertools import takewhile

from tidemark.capture.commits.commit_state import Commit, CommitState, commits
from tidemark.capture.commits.foreign_writes import write_beneath
from tidemark.capture.commits.holds import NOTHING_ACCEPTED, AcceptedOffsets
from tidemark.capture.source_table import SourceTable
from tidemark.delta.delta_rs_table import table_metrics
from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot
from tidemark.system.crash_points import crash_point
from tidemark.system.table_location import TableLocation


def tag_commit(
    registry: SnapshotRegistry,
    path: TableLocation,
    commit: Commit,
    accepted: AcceptedOffsets = NOTHING_ACCEPTED,
    audited: Collection[str] = (),
) -> tuple[TaggedSnapshot, ...]:
    """Write the tags of one commit, and restate and settle its other slices. A repeated call changes nothing.

    Versions for `audited` entities become candidates. Returns all tags and candidates: none while a hold is not
    `accepted`, or if another program wrote just before the commit.
    """
    state, tagged = commit.state, tuple[TaggedSnapshot, ...]()
    if state.own_restates:
        registry.restate([slice_end.of_slice for slice_end in state.own_restates], state.batch, audited)
    if (
        state.closes
        and not state.holds.holds_to_accept(accepted)
        and not write_beneath(path, commit.version, state.follows)
    ):
        rows = table_metrics(path, version=commit.version).rows
        tagged = tuple(
            TaggedSnapshot(
                *slice_end.of_slice,
                commit.version,
                rows,
                commit.at,
                late_until=slice_end.end_ms + slice_end.late_ms if slice_end.late_ms else 0,
            )
            for slice_end in state.closes
        )
        registry.tag([snapshot for snapshot in tagged if snapshot.entity not in audited])
        crash_point("ingest.before_candidates")
        registry.candidates.propose([snapshot for snapshot in tagged if snapshot.entity in audited])
    if state.settles:
        registry.stop_waiting(slice_end.of_slice for slice_end in state.settles)
    return tagged


def tag_missing(
    registry: SnapshotRegistry,
    path: TableLocation,
    accepted: AcceptedOffsets = NOTHING_ACCEPTED,
    audited: Collection[str] = (),
) -> tuple[TaggedSnapshot, ...]:
    """Write the tags that the table's log has and the registry lacks: after a crash, or all of them for a new registry.

    Tags are written in order, so the walk back through the log ends at the first commit whose tags all exist.
    """
    return tuple(
        snapshot
        for commit in reversed(untagged(registry, path))
        for snapshot in tag_commit(registry, path, commit, accepted, audited)
    )


def untagged(registry: SnapshotRegistry, path: TableLocation) -> list[Commit]:
    """The commits whose tags the registry lacks, newest first."""
    tagging = (
        commit for commit in commits(path) if commit.state.closes or commit.state.own_restates or commit.state.settles
    )
    return list(takewhile(lambda commit: not _is_tagged(registry, commit.state), tagging))


def tag_accepted(
    registry: SnapshotRegistry, path: TableLocation, accepted: AcceptedOffsets, audited: Collection[str] = ()
) -> tuple[TaggedSnapshot, ...]:
    """Write the tags of held versions whose holds a person has accepted. This reads the whole log."""
    held = [commit for commit in commits(path) if commit.state.closes and commit.state.holds.open]
    freed = [commit for commit in reversed(held) if not commit.state.holds.holds_to_accept(accepted)]
    return tuple(snapshot for commit in freed for snapshot in tag_commit(registry, path, commit, accepted, audited))


def keep_newest(registry: SnapshotRegistry, table: SourceTable) -> None:
    """Drop the tags beyond the declared number, so that VACUUM may delete their versions."""
    for entity, period, _ in table.snapshot_series:
        if entity in table.kept:
            registry.keep(entity, period, table.kept[entity])


def _is_tagged(registry: SnapshotRegistry, state: CommitState) -> bool:
    given = (registry.newest(*slice_end.of_slice) for slice_end in state.closes)
    moved = (registry.newest(*slice_end.of_slice) for slice_end in state.own_restates)
    settled = (registry.newest(*slice_end.of_slice) for slice_end in state.settles)
    return (
        all(given)
        and all(slice_end is not None and slice_end.late_batch >= state.batch for slice_end in moved)
        and all(slice_end is not None and not slice_end.waits_for_late for slice_end in settled)
    )
