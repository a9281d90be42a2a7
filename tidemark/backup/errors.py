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
            "a backup needs a new folder",
            expected="no file or folder with that name",
            found="it exists already",
            where=str(folder),
            hint="name another folder, such as one with today's date; nothing was written",
        )

    @classmethod
    def too_small(cls, folder: Path, needed: int, free: int) -> Self:
        return cls(
            "the disk has too little free space",
            expected=f"{needed:,} bytes free",
            found=f"{free:,}",
            where=str(folder),
            hint="free some space, or name a folder on another disk; nothing was written",
        )

    @classmethod
    def not_writable(cls, folder: Path, error: OSError) -> Self:
        return cls(
            "the backup cannot be written",
            found=error.strerror or str(error),
            where=str(folder),
            hint="free some space, grant write access, or name another folder; the incomplete copy was removed",
        )


class BackupSourceError(TerminalError):
    """The source of a backup is missing or damaged."""

    @classmethod
    def without_store(cls, file: Path) -> Self:
        return cls(
            "there is no state store to back up",
            expected="the file that the project's first process creates",
            found="none",
            where=str(file),
            hint="start `tidemark center` or `tidemark up` first, or correct TIDEMARK_DATA and TIDEMARK_STATE_DB",
        )

    @classmethod
    def damaged(cls, file: Path, found: str) -> Self:
        return cls(
            "a SQLite file is damaged: it was not backed up",
            expected="a database that SQLite's `PRAGMA integrity_check` calls ok",
            found=found,
            where=str(file),
            hint="see docs/operations.md, 'The state store is damaged'",
        )

    @classmethod
    def unknown_storage(cls, home: Path) -> Self:
        return cls(
            "this kind of Dagster storage cannot be backed up",
            expected="SQLite below one folder, or one PostgreSQL database for runs and events",
            found="another storage in dagster.yaml",
            where=str(home),
            hint="use one of these, or use the backup tools of that storage",
        )

    @classmethod
    def unreadable_home(cls, home: Path, found: str) -> Self:
        return cls(
            "Dagster's configuration cannot be read",
            expected="a dagster.yaml that Dagster accepts",
            found=found,
            where=str(home / "dagster.yaml"),
            hint="correct the file; `tidemark init` writes one that works",
        )

    @classmethod
    def lake_elsewhere(cls, lake: str) -> Self:
        return cls(
            "the lake is not on this machine's disk",
            expected="a backup without --with-lake, which holds only the positions of the tables",
            found="--with-lake",
            where=lake,
            hint="protect its files with the object store's versions or replication, or with `tidemark replicate`",
        )


class BackupProgramError(TerminalError):
    """A program of PostgreSQL that is missing, or that failed."""

    @classmethod
    def missing(cls, name: str) -> Self:
        return cls(
            f"the program {name} is not installed",
            expected=f"{name} of PostgreSQL, in the server's version or a later one",
            found="not on PATH",
            hint="install PostgreSQL's client: `apt-get install postgresql-client`, or `dnf install postgresql`",
        )

    @classmethod
    def failed(cls, name: str, where: str, said: str) -> Self:
        return cls(
            f"the program {name} failed",
            found=said,
            where=where,
            hint="if the server is newer than the program, install the client of the server's version",
        )


class BackupUnusableError(TerminalError):
    """A backup that is incomplete, changed, of another program or of a later version."""

    @classmethod
    def foreign(cls, folder: Path, found: str) -> Self:
        return cls(
            "this is not a backup of Tidemark",
            expected="a folder that `tidemark backup` wrote, with manifest.json and manifest.sha256",
            found=found,
            where=str(folder),
            hint="name the backup's own folder; an interrupted copy has another name and cannot be restored",
        )

    @classmethod
    def changed(cls, folder: Path, differences: Sequence[str]) -> Self:
        more = [f"and {len(differences) - _SHOWN} more"] if len(differences) > _SHOWN else []
        return cls(
            "the backup has changed since it was written: nothing was restored",
            expected="each file with its size and SHA-256 from manifest.json",
            found="; ".join([*differences[:_SHOWN], *more]),
            where=str(folder),
            hint="copy the backup again from its storage, or use an older one",
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
            "the place of the restore is not empty: nothing was written",
            expected="no state store, no Dagster storage and no table of the backup at this place",
            found="; ".join([*places[:_SHOWN], *more]),
            hint="`--replace` moves them aside, in the same folder; or restore into another folder with `--into`",
        )

    @classmethod
    def at_work(cls, holder: str) -> Self:
        return cls(
            "a process of this project is running: nothing was written",
            expected="no center, no workers and no capture",
            found=f"the lease of {holder}",
            hint="stop all services of the project first; the lease of a dead process ends within 30 s",
        )

    @classmethod
    def without_lake(cls, backup: Path, lake: str) -> Self:
        return cls(
            "the backup has no files of the lake, and there is no lake: nothing was written",
            expected="a backup that was made with `tidemark backup TO --with-lake`, or the lake at its old place",
            found="only the positions of tables",
            where=str(backup),
            hint=f"bring the lake back to {lake} first, or restore on the machine that has it",
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
            "files of a table disappeared while they were copied",
            found=why,
            where=table,
            hint="a VACUUM or a repair was running; make the backup again",
        )
