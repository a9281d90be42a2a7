"""Tags of snapshots out of Delta commits: the registry is a projection that a crash or a lost file cannot harm.

Of an entity with blocking rules a version is proposed instead: a run that judges it tags it (A5).
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
    """Write the tags that one commit gives, restate and settle those that it says; doing it again changes nothing.

    Those of `audited` entities are proposed. Returns all that it gives: none while its holds are not all `accepted`, or
    where somebody else wrote beneath it.
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
    """Write the tags that the table's log gives and the registry lacks: after a crash, or all of them when it is new.

    Tags are written in order, so the walk back through the log ends at the first commit whose tags are all there.
    """
    tagging = (
        commit for commit in commits(path) if commit.state.closes or commit.state.own_restates or commit.state.settles
    )
    missing = list(takewhile(lambda commit: not _is_tagged(registry, commit.state), tagging))
    return tuple(
        snapshot for commit in reversed(missing) for snapshot in tag_commit(registry, path, commit, accepted, audited)
    )


def tag_accepted(
    registry: SnapshotRegistry, path: TableLocation, accepted: AcceptedOffsets, audited: Collection[str] = ()
) -> tuple[TaggedSnapshot, ...]:
    """Write the tags of versions that were held, now that a person accepted why; the whole log is looked through."""
    held = [commit for commit in commits(path) if commit.state.closes and commit.state.holds.open]
    freed = [commit for commit in reversed(held) if not commit.state.holds.holds_to_accept(accepted)]
    return tuple(snapshot for commit in freed for snapshot in tag_commit(registry, path, commit, accepted, audited))


def keep_newest(registry: SnapshotRegistry, table: SourceTable) -> None:
    """Drop the tags that are too many by the table's declaration: VACUUM may have their versions then."""
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
