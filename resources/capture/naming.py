"""Names of snapshots out of Delta commits: the registry is a projection that a crash or a lost file cannot harm."""

from collections.abc import Iterable, Mapping
from itertools import takewhile
from pathlib import Path

from resources.capture.commit import Commit, CommitState, commits
from resources.capture.planner import Boundary
from resources.capture.source import SourceTable
from resources.delta.table import table_metrics
from resources.state_store.registry import NamedSnapshot, Place, SnapshotRegistry


def name_commit(
    registry: SnapshotRegistry, path: Path, commit: Commit, lateness: Mapping[str, int]
) -> tuple[NamedSnapshot, ...]:
    """Write the names that one commit gives, and those that it moves or settles; doing it again changes nothing.

    Names of the entities in `lateness` wait so many ms of event time for late changes. Returns those that it gives.
    """
    state, named = commit.state, tuple[NamedSnapshot, ...]()
    if state.moves:
        registry.reopen(_places(state.moves), state.batch)
    if state.closes:
        rows = table_metrics(path, version=commit.version).rows
        named = tuple(
            NamedSnapshot(
                one.entity, one.period, one.slice, commit.version, rows, commit.at, open_until=_until(one, lateness)
            )
            for one in state.closes
        )
        registry.name(named)
    if state.settles:
        registry.settle(_places(state.settles))
    return named


def _until(boundary: Boundary, lateness: Mapping[str, int]) -> int:
    return boundary.end_ms + lateness[boundary.entity] if boundary.entity in lateness else 0


def _places(boundaries: Iterable[Boundary]) -> list[Place]:
    return [(one.entity, one.period, one.slice) for one in boundaries]


def name_missing(registry: SnapshotRegistry, path: Path, lateness: Mapping[str, int]) -> tuple[NamedSnapshot, ...]:
    """Write the names that the table's log gives and the registry lacks: after a crash, or all of them when it is new.

    Names are written in order, so the walk back through the log ends at the first commit whose names are all there.
    """
    naming = (commit for commit in commits(path) if commit.state.closes or commit.state.moves or commit.state.settles)
    missing = list(takewhile(lambda commit: not _named(registry, commit.state), naming))
    return tuple(one for commit in reversed(missing) for one in name_commit(registry, path, commit, lateness))


def settle_rest(registry: SnapshotRegistry, table: SourceTable) -> None:
    """End the waiting for entities that are not declared to wait any more: no commit would."""
    for entity, period, _ in table.boundaries:
        if entity not in table.lateness:
            registry.settle((entity, period, one.slice) for one in registry.of(entity, period) if one.is_open)


def _named(registry: SnapshotRegistry, state: CommitState) -> bool:
    given = (registry.get(*place) for place in _places(state.closes))
    moved = (registry.get(*place) for place in _places(state.moves))
    settled = (registry.get(*place) for place in _places(state.settles))
    return (
        all(given)
        and all(one is not None and one.late_batch >= state.batch for one in moved)
        and not any(one is not None and one.is_open for one in settled)
    )
