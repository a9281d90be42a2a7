"""Plans the files of a slice that a replica needs: by name, and by rows that only moved into other files.

A clustering at the source moves rows without changing them. The replica's old files with these rows stand in for the
new ones. Nothing is sent, and a reader of the replica sees the same rows in the old files.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from collections.abc import Set as AbstractSet

    from tidemark.delta.internals.version_content import FileKey, FileStep

    Files = Mapping[FileKey, Mapping[str, Any]]


@dataclass(frozen=True)
class MovedRows:
    """Source files that together hold the rows of `stand_ins` at the replica; None if that is unknown."""

    files: frozenset[FileKey]
    stand_ins: frozenset[FileKey] | None


@dataclass(frozen=True)
class FilePlan:
    """`kept` and `removed` are files of the replica, `added` files of the source."""

    kept: frozenset[FileKey]
    added: frozenset[FileKey]
    removed: frozenset[FileKey]


def groups_by_name(wanted: Collection[FileKey], there: AbstractSet[FileKey]) -> list[MovedRows]:
    """A group for each file of the source."""
    return [_alone(key, there) for key in wanted]


def groups_of(live: Files, steps: Iterable[FileStep], there: AbstractSet[FileKey]) -> list[MovedRows]:
    """The live files after all `steps`, from `live` on, each group with the replica's files of the same rows."""
    groups = _LiveGroups(live, there)
    for step in steps:
        if step.changes_rows:
            groups.change(step)
        else:
            groups.move(step)
    return groups.all()


def file_plan(groups: Collection[MovedRows], there: AbstractSet[FileKey]) -> FilePlan:
    """The plan after which the replica, which has the files `there`, has exactly the rows of the groups."""
    moved = {group for group in groups if group.stand_ins is not None and group.stand_ins != group.files}
    by_name = {key for group in {*groups} - moved for key in group.files}
    kept = by_name & there
    while clashing := {group for group in moved if group.stand_ins and group.stand_ins & kept}:
        # A file that is needed itself cannot stand in for another one.
        by_name |= {key for group in clashing for key in group.files}
        moved -= clashing
        kept = by_name & there
    kept |= {key for group in moved for key in group.stand_ins or ()}
    return FilePlan(frozenset(kept), frozenset(by_name - there), frozenset(there - kept))


@dataclass
class _LiveGroup:
    files: set[FileKey]
    stand_ins: set[FileKey] | None


@dataclass
class _LiveGroups:
    """The group of each live file."""

    live: Files
    there: AbstractSet[FileKey]
    _of: dict[FileKey, _LiveGroup] = field(default_factory=dict)
    _partitions: dict[FileKey, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._add(self.live)

    def change(self, step: FileStep) -> None:
        """Apply a commit that changes rows: in a group that lost a file, it is unknown which file has which rows."""
        for key in step.removed:
            group = self._of.pop(key, None)
            if group is not None:
                group.files.discard(key)
                group.stand_ins = None
        self._add(step.added)

    def move(self, step: FileStep) -> None:
        """Apply a commit that only moves rows, which stay in their partitions."""
        added = {key: _partition(add) for key, add in step.added.items()}
        removed = [key for key in step.removed if key in self._of]
        for partition in {*added.values(), *(self._partitions[key] for key in removed)}:
            self._move(
                [key for key in removed if self._partitions[key] == partition],
                {key: step.added[key] for key, told in added.items() if told == partition},
            )

    def _move(self, removed: list[FileKey], added: Files) -> None:
        touched = {id(self._of[key]): self._of[key] for key in removed}.values()
        left = {key for group in touched for key in group.files}.difference(removed)
        for key in removed:
            del self._of[key]
        if not left and self.there >= added.keys():
            self._add(added)
            return
        known = [group.stand_ins for group in touched if group.stand_ins is not None]
        is_known = bool(touched) and len(known) == len(touched)
        merged = _LiveGroup(left | added.keys(), {key for some in known for key in some} if is_known else None)
        for key in merged.files:
            self._of[key] = merged
        self._partitions |= {key: _partition(add) for key, add in added.items()}

    def _add(self, files: Files) -> None:
        for key, add in files.items():
            self._of[key] = _LiveGroup({key}, {key} if key in self.there else None)
            self._partitions[key] = _partition(add)

    def all(self) -> list[MovedRows]:
        groups = {id(group): group for group in self._of.values()}.values()
        return [
            MovedRows(frozenset(group.files), None if group.stand_ins is None else frozenset(group.stand_ins))
            for group in groups
        ]


def _alone(key: FileKey, there: AbstractSet[FileKey]) -> MovedRows:
    own = frozenset({key})
    return MovedRows(own, own if key in there else None)


def _partition(add: Mapping[str, Any]) -> str:
    return str(sorted((add.get("partitionValues") or {}).items(), key=str))
