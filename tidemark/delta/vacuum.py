"""Deletes files that no version needs. Versions with a claim stay readable at any age.

Delta's own VACUUM knows only age. It would delete the files of a tagged snapshot with all others of that day.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tidemark.delta.internals.log_replay import Lifetime, TableHistory, read_history
from tidemark.delta.maintenance_lease import maintaining
from tidemark.delta.retention import Claim, KeptVersion, Retention, kept_versions
from tidemark.state_store.database import Database
from tidemark.state_store.version_claims import claims_of_readers
from tidemark.storage.file_store import StoredFile
from tidemark.storage.stored_files import stored_files
from tidemark.system.crash_points import crash_point
from tidemark.system.table_location import TableLocation

UNKNOWN_AFTER = timedelta(days=1)
"""A file outside all commits may belong to a commit in progress. After this time it belongs to a failed one."""


@dataclass(frozen=True)
class VacuumPlan:
    """`kept` are the versions that stay readable; `only` has the bytes that each of them alone needs, by version.

    `needless` are paths in the table's folder with their bytes; `history_bytes` is kept besides the newest version.
    """

    path: TableLocation
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
    path: TableLocation, retention: Retention, claims: Iterable[Claim], database: Database, now: datetime | None = None
) -> VacuumPlan:
    """The files that a vacuum would delete, and the versions that it keeps, with reasons. Nothing is deleted.

    `claims` are those of tags and replications; readers' claims are in the state store `database`. Raises
    NotADeltaTableError, and if the log cannot be read completely TableFeatureError and UnreadableLogError.
    """
    now = now or datetime.now(UTC)
    # List the files before reading the log: files that a writer adds in between are not in the list.
    stored = list(stored_files(path).walk())
    history = read_history(path)
    read = [Claim(claim.version, f"read by {claim.who}") for claim in claims_of_readers(database, str(path))]
    kept = kept_versions(history.commits, retention, [*claims, *read], now)
    versions = [version.version for version in kept]
    needed = [file for file in history.lifetimes if _span(file, versions)]
    return VacuumPlan(
        path=path,
        newest=history.commits[-1][0],
        kept=kept,
        only=_only(needed, versions),
        needless=_needless(stored, history, needed, now),
        live_bytes=sum(file.size_bytes for file in needed if file.removed is None),
        history_bytes=sum(file.size_bytes for file in needed if file.removed is not None),
    )


def vacuum(
    path: TableLocation, retention: Retention, claims: Iterable[Claim], database: Database, now: datetime | None = None
) -> VacuumPlan:
    """Delete the plan's needless files, and return the plan.

    Raises the errors of `plan_vacuum`, and AlreadyRunningError while the table is repaired or vacuumed.
    """
    with maintaining(database, path):
        plan = plan_vacuum(path, retention, claims, database, now)
        store = stored_files(path)
        for name in plan.needless:
            crash_point("vacuum.before_delete")
            store.delete([name])
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
    stored: Iterable[StoredFile], history: TableHistory, needed: Iterable[Lifetime], now: datetime
) -> dict[str, int]:
    stay = {name for file in needed for name in file.paths}
    known = {name for file in history.lifetimes for name in file.paths}
    oldest = now - UNKNOWN_AFTER
    return {
        file.name: file.size_bytes
        for file in sorted(stored, key=lambda file: file.name)
        if file.name not in stay and (file.name in known or file.changed < oldest)
    }
