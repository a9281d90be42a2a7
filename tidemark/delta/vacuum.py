"""Files that no version needs any more are deleted; versions that somebody needs stay readable, however old they are.

Delta's own VACUUM knows of age alone: it would take the files of a tagged snapshot with all others of its day.
"""

import os
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tidemark.delta.active_readers import claims_of_readers
from tidemark.delta.internals.log_replay import Lifetime, TableHistory, read_history
from tidemark.delta.maintenance_lock import maintaining
from tidemark.delta.retention import Claim, KeptVersion, Retention, kept_versions
from tidemark.system.crash_points import crash_point

UNKNOWN_AFTER = timedelta(days=1)
"""A file that is in no commit may be of one that is under way; after so long it is of one that failed."""


@dataclass(frozen=True)
class VacuumPlan:
    """`kept` are the versions that stay readable; `only` the bytes (by version) that go when this one alone goes too.

    `needless` are paths in the table's folder with their bytes; `history_bytes` what is kept beside the newest version.
    """

    path: Path
    newest: int
    kept: tuple[KeptVersion, ...]
    only: Mapping[int, int]
    needless: Mapping[str, int]
    live_bytes: int
    history_bytes: int

    @property
    def needless_bytes(self) -> int:
        return sum(self.needless.values())


def plan_vacuum(
    path: Path, retention: Retention, claims: Iterable[Claim], locks: Path, now: datetime | None = None
) -> VacuumPlan:
    """What would be deleted and what is kept, and why; nothing is. `claims` are those of tags and replications.

    Readers' claims are looked for in `locks`. Raises NotADeltaTableError, and where the log cannot be read for certain
    TableFeatureError and UnreadableLogError.
    """
    now = now or datetime.now(UTC)
    # First the files, then the log: what a writer adds in between is not in the list.
    on_disk = dict(_on_disk(path))
    history = read_history(path)
    kept = kept_versions(history.commits, retention, [*claims, *claims_of_readers(locks, path)], now)
    versions = [version.version for version in kept]
    needed = [file for file in history.lifetimes if _span(file, versions)]
    return VacuumPlan(
        path=path,
        newest=history.commits[-1][0],
        kept=kept,
        only=_only(needed, versions),
        needless=_needless(on_disk, history, needed, now),
        live_bytes=sum(file.size_bytes for file in needed if file.removed is None),
        history_bytes=sum(file.size_bytes for file in needed if file.removed is not None),
    )


def vacuum(
    path: Path, retention: Retention, claims: Iterable[Claim], locks: Path, now: datetime | None = None
) -> VacuumPlan:
    """Delete what the plan calls needless, and return it.

    Raises what `plan_vacuum` raises, and AlreadyRunningError while the table is repaired or vacuumed.
    """
    with maintaining(locks, path):
        plan = plan_vacuum(path, retention, claims, locks, now)
        for name in plan.needless:
            crash_point("vacuum.before_delete")
            (path / name).unlink(missing_ok=True)
            # Hadoop's local file system keeps a checksum beside each file.
            (path / name).with_name(f".{Path(name).name}.crc").unlink(missing_ok=True)
    return plan


def _span(file: Lifetime, versions: Sequence[int]) -> Sequence[int]:
    """The kept versions in which the file is live."""
    end = len(versions) if file.removed is None else bisect_left(versions, file.removed)
    return versions[bisect_left(versions, file.added) : end]


def _only(needed: Iterable[Lifetime], versions: Sequence[int]) -> Mapping[int, int]:
    only: Counter[int] = Counter()
    for file in needed:
        span = _span(file, versions)
        if len(span) == 1:
            only[span[0]] += file.size_bytes
    return only


def _needless(
    on_disk: Mapping[str, tuple[int, float]], history: TableHistory, needed: Iterable[Lifetime], now: datetime
) -> dict[str, int]:
    stay = {name for file in needed for name in file.paths}
    known = {name for file in history.lifetimes for name in file.paths}
    oldest = (now - UNKNOWN_AFTER).timestamp()
    return {
        name: size
        for name, (size, changed) in sorted(on_disk.items())
        if name not in stay and (name in known or changed < oldest)
    }


def folders_on_disk(path: Path) -> Iterator[tuple[str, list[str]]]:
    """The names of data and vectors in each folder of the table's; no log, no manifests."""
    for folder, folders, names in os.walk(path):
        folders[:] = [name for name in folders if not _is_hidden(name)]
        yield folder, [name for name in names if not _is_hidden(name)]


def _on_disk(path: Path) -> Iterator[tuple[str, tuple[int, float]]]:
    """Data and vectors by their path in the table's folder, with bytes and time of change."""
    for folder, names in folders_on_disk(path):
        for file in (Path(folder, name) for name in names):
            told = file.stat()
            yield str(file.relative_to(path)), (told.st_size, told.st_mtime)


def _is_hidden(name: str) -> bool:
    return name.startswith(("_", ".")) and "=" not in name
