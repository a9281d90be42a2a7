"""Names of snapshots out of Delta commits: the registry is a projection that a crash or a lost file cannot harm."""

from itertools import takewhile
from pathlib import Path

from tidemark.capture.commits.commit_state import Commit, CommitState, commits
from tidemark.capture.source_table import SourceTable
from tidemark.delta.table import table_metrics
from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot


def name_commit(registry: SnapshotRegistry, path: Path, commit: Commit) -> tuple[TaggedSnapshot, ...]:
    """Write the names that one commit gives, and those that it moves or settles; doing it again changes nothing.

    Returns those that it gives.
    """
    state, named = commit.state, tuple[TaggedSnapshot, ...]()
    if state.moves:
        registry.restate([one.of_slice for one in state.moves], state.batch)
    if state.closes:
        rows = table_metrics(path, version=commit.version).rows
        named = tuple(
            TaggedSnapshot(
                *one.of_slice,
                commit.version,
                rows,
                commit.at,
                late_until=one.end_ms + one.late_ms if one.late_ms else 0,
            )
            for one in state.closes
        )
        registry.tag(named)
    if state.settles:
        registry.stop_waiting(one.of_slice for one in state.settles)
    return named


def name_missing(registry: SnapshotRegistry, path: Path) -> tuple[TaggedSnapshot, ...]:
    """Write the names that the table's log gives and the registry lacks: after a crash, or all of them when it is new.

    Names are written in order, so the walk back through the log ends at the first commit whose names are all there.
    """
    naming = (commit for commit in commits(path) if commit.state.closes or commit.state.moves or commit.state.settles)
    missing = list(takewhile(lambda commit: not _named(registry, commit.state), naming))
    return tuple(one for commit in reversed(missing) for one in name_commit(registry, path, commit))


def keep_newest(registry: SnapshotRegistry, table: SourceTable) -> None:
    """Drop the names that are too many by the table's declaration: VACUUM may have their versions then."""
    for entity, period, _ in table.boundaries:
        if entity in table.kept:
            registry.keep(entity, period, table.kept[entity])


def _named(registry: SnapshotRegistry, state: CommitState) -> bool:
    given = (registry.get(*one.of_slice) for one in state.closes)
    moved = (registry.get(*one.of_slice) for one in state.moves)
    settled = (registry.get(*one.of_slice) for one in state.settles)
    return (
        all(given)
        and all(one is not None and one.late_batch >= state.batch for one in moved)
        and all(one is not None and not one.waits_for_late for one in settled)
    )
