"""Names of snapshots out of Delta commits: the registry is a projection that a crash or a lost file cannot harm."""

from itertools import takewhile
from pathlib import Path

from tidemark.capture.commits.commit_state import Commit, CommitState, commits
from tidemark.capture.source_table import SourceTable
from tidemark.delta.delta_rs_table import table_metrics
from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot


def name_commit(registry: SnapshotRegistry, path: Path, commit: Commit) -> tuple[TaggedSnapshot, ...]:
    """Write the names that one commit gives, and those that it moves or settles; doing it again changes nothing.

    Returns those that it gives.
    """
    state, named = commit.state, tuple[TaggedSnapshot, ...]()
    if state.moves:
        registry.restate([boundary.of_slice for boundary in state.moves], state.batch)
    if state.closes:
        rows = table_metrics(path, version=commit.version).rows
        named = tuple(
            TaggedSnapshot(
                *boundary.of_slice,
                commit.version,
                rows,
                commit.at,
                late_until=boundary.end_ms + boundary.late_ms if boundary.late_ms else 0,
            )
            for boundary in state.closes
        )
        registry.tag(named)
    if state.settles:
        registry.stop_waiting(boundary.of_slice for boundary in state.settles)
    return named


def name_missing(registry: SnapshotRegistry, path: Path) -> tuple[TaggedSnapshot, ...]:
    """Write the names that the table's log gives and the registry lacks: after a crash, or all of them when it is new.

    Names are written in order, so the walk back through the log ends at the first commit whose names are all there.
    """
    naming = (commit for commit in commits(path) if commit.state.closes or commit.state.moves or commit.state.settles)
    missing = list(takewhile(lambda commit: not _named(registry, commit.state), naming))
    return tuple(snapshot for commit in reversed(missing) for snapshot in name_commit(registry, path, commit))


def keep_newest(registry: SnapshotRegistry, table: SourceTable) -> None:
    """Drop the names that are too many by the table's declaration: VACUUM may have their versions then."""
    for entity, period, _ in table.boundaries:
        if entity in table.kept:
            registry.keep(entity, period, table.kept[entity])


def _named(registry: SnapshotRegistry, state: CommitState) -> bool:
    given = (registry.get(*boundary.of_slice) for boundary in state.closes)
    moved = (registry.get(*boundary.of_slice) for boundary in state.moves)
    settled = (registry.get(*boundary.of_slice) for boundary in state.settles)
    return (
        all(given)
        and all(boundary is not None and boundary.late_batch >= state.batch for boundary in moved)
        and all(boundary is not None and not boundary.waits_for_late for boundary in settled)
    )
