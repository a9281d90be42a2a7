"""Errors of backups, below the one root.

TerminalError
├── BackupPlaceError   a place that cannot be written, by a backup or a restore
├── BackupSourceError  the source of a backup is missing or damaged
├── BackupProgramError a program of PostgreSQL that is missing, or that failed
├── BackupUnusableError   a backup that is incomplete, changed, of another program or of a later version
└── RestoreBlockedError   something exists at the place of a restore
TransientError
└── BackupDisturbedError  files disappeared during the copy
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from tidemark.errors import TerminalError, TransientError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_SHOWN = 3


class BackupPlaceError(TerminalError):
    """A place that cannot be written."""

    @classmethod
    def taken(cls, folder: Path) -> Self:
        return cls(
            "a backup is written into a new folder",
            expected="no file or folder of that name",
            found="one that is there",
            where=str(folder),
            hint="name another folder, such as one with today's date; nothing was written",
        )

    @classmethod
    def too_small(cls, folder: Path, needed: int, free: int) -> Self:
        return cls(
            "the disk has too little room",
            expected=f"{needed:,} bytes free",
            found=f"{free:,}",
            where=str(folder),
            hint="free some, or name a folder on another disk; nothing was written",
        )

    @classmethod
    def not_writable(cls, folder: Path, error: OSError) -> Self:
        return cls(
            "cannot be written",
            found=error.strerror or str(error),
            where=str(folder),
            hint="free the disk or give rights to it, or name another folder; a half copy was removed",
        )


class BackupSourceError(TerminalError):
    """The source of a backup is missing or damaged."""

    @classmethod
    def without_store(cls, file: Path) -> Self:
        return cls(
            "there is no state store to back up",
            expected="the file that the first process of the project makes",
            found="none",
            where=str(file),
            hint="start `tidemark center` or `tidemark up` first, or correct TIDEMARK_DATA and TIDEMARK_STATE_DB",
        )

    @classmethod
    def damaged(cls, file: Path, found: str) -> Self:
        return cls(
            "a file of SQLite is damaged: no backup was made of it",
            expected="a database that SQLite's `PRAGMA integrity_check` calls ok",
            found=found,
            where=str(file),
            hint="docs/operations.md, 'The state store is damaged', says the way back",
        )

    @classmethod
    def unknown_storage(cls, home: Path) -> Self:
        return cls(
            "Dagster's storage is of a kind that is not backed up here",
            expected="SQLite below one folder, or one database of PostgreSQL for runs and events",
            found="another storage in dagster.yaml",
            where=str(home),
            hint="use one of these, or back the project up with the tools of that storage",
        )

    @classmethod
    def unreadable_home(cls, home: Path, found: str) -> Self:
        return cls(
            "Dagster's configuration cannot be read",
            expected="a dagster.yaml that Dagster takes",
            found=found,
            where=str(home / "dagster.yaml"),
            hint="correct the file; `tidemark init` writes one that works",
        )

    @classmethod
    def lake_elsewhere(cls, lake: str) -> Self:
        return cls(
            "the lake is not on this machine's disk",
            expected="without --with-lake: the positions of its tables alone are kept",
            found="--with-lake",
            where=lake,
            hint="keep its files by the versions or the replication of the object store",
        )


class BackupProgramError(TerminalError):
    """A program of PostgreSQL that is missing, or that failed."""

    @classmethod
    def missing(cls, name: str) -> Self:
        return cls(
            f"the program {name} is not installed",
            expected=f"{name} of PostgreSQL, of the server's version or a later one",
            found="none on PATH",
            hint="install PostgreSQL's client: `apt-get install postgresql-client`, or `dnf install postgresql`",
        )

    @classmethod
    def failed(cls, name: str, where: str, said: str) -> Self:
        return cls(
            f"the program {name} failed",
            found=said,
            where=where,
            hint="of a server that is newer than the program: install the client of the server's version",
        )


class BackupUnusableError(TerminalError):
    """A backup that is incomplete, changed, of another program or of a later version."""

    @classmethod
    def foreign(cls, folder: Path, found: str) -> Self:
        return cls(
            "this is no backup of Tidemark",
            expected="a folder that `tidemark backup` wrote, with manifest.json and manifest.sha256",
            found=found,
            where=str(folder),
            hint="name the folder itself; a copy that broke off has another name, and is none",
        )

    @classmethod
    def changed(cls, folder: Path, differences: Sequence[str]) -> Self:
        more = [f"and {len(differences) - _SHOWN} more"] if len(differences) > _SHOWN else []
        return cls(
            "the backup is not what was written: nothing was restored",
            expected="each file with the size and the SHA-256 that manifest.json has of it",
            found="; ".join([*differences[:_SHOWN], *more]),
            where=str(folder),
            hint="copy the backup again from where it is kept, or take an older one",
        )

    @classmethod
    def later(cls, folder: Path, expected: str, found: str) -> Self:
        return cls(
            "the backup was made by a later version of Tidemark: nothing was restored",
            expected=expected,
            found=found,
            where=str(folder),
            hint="install that version, and restore with it",
        )


class RestoreBlockedError(TerminalError):
    """Something exists at the place of a restore."""

    @classmethod
    def there(cls, places: Sequence[str]) -> Self:
        more = [f"and {len(places) - _SHOWN} more"] if len(places) > _SHOWN else []
        return cls(
            "something is where the backup would be restored: nothing was written",
            expected="no state store, no storage of Dagster and no table of the backup there",
            found="; ".join([*places[:_SHOWN], *more]),
            hint="`--replace` moves these aside, beside where they are; or restore with `--into` another folder",
        )

    @classmethod
    def at_work(cls, holder: str) -> Self:
        return cls(
            "a process of this project is at work: nothing was written",
            expected="no center, no workers and no capture",
            found=f"the lease of {holder}",
            hint="stop all services of the project first; of one that died the lease ends within 30 s",
        )

    @classmethod
    def without_lake(cls, backup: Path, lake: str) -> Self:
        return cls(
            "the backup has no files of the lake, and there is no lake: nothing was written",
            expected="a backup that was made with `tidemark backup TO --with-lake`, or the lake where it was",
            found="positions of tables alone",
            where=str(backup),
            hint=f"bring the lake back to {lake} first, or restore where it is",
        )

    @classmethod
    def other_database(cls, what: str, expected: str, found: str) -> Self:
        return cls(
            f"{what} of the backup is of another database: nothing was written",
            expected=expected,
            found=found,
            hint="set TIDEMARK_STATE, or `storage` in dagster.yaml, as it was when the backup was made",
        )


class BackupDisturbedError(TransientError):
    """Files disappeared during the copy."""

    @classmethod
    def of(cls, table: str, why: str) -> Self:
        return cls(
            "files of a table went away while they were copied",
            found=why,
            where=table,
            hint="a VACUUM or a repair was at work; make the backup again",
        )
