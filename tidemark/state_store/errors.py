"""Errors of the state store (tree in tidemark.system.errors)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from tidemark.errors import TerminalError, TransientError
from tidemark.system.masked_urls import masked_url, without_secrets

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from sqlalchemy import URL

    from tidemark.state_store.fence import Fence


class StateStoreDownError(TransientError):
    """The database does not answer; what was being written is written wholly or not at all."""

    @classmethod
    def of(cls, url: URL, error: BaseException, hint: str = "") -> Self:
        return cls(
            "the state store's database does not answer",
            found=_cause(error, url),
            where=masked_url(url),
            hint=hint or "nothing is lost: the same report may be made again once it answers",
        )


class StateStoreDamagedError(TerminalError):
    """The database answers, and what it holds is broken."""

    @classmethod
    def of(cls, url: URL, error: BaseException) -> Self:
        return cls(
            "the state store is damaged, and nothing was written",
            expected="a database that SQLite's `PRAGMA integrity_check` calls ok",
            found=_cause(error, url),
            where=masked_url(url),
            hint="restore a backup: tidemark restore BACKUP --replace; docs/operations.md says more",
        )

    @classmethod
    def emptied(cls, file: Path, lake: str) -> Self:
        """An empty file, which no process of ours leaves, where the lake has tables."""
        return cls(
            "the state store is empty, and the lake has tables: it was cut, and nothing was written",
            expected="a database of SQLite, or no file",
            found="a file of 0 bytes",
            where=str(file),
            hint="restore a backup: tidemark restore BACKUP --replace; or remove the file: the store is built again "
            f"from Dagster's log then (docs/operations.md, 'The state store is missing'; the lake is {lake})",
        )


def _cause(error: BaseException, url: URL) -> str:
    """The first line of what the driver says, without secrets."""
    lines = without_secrets(str(getattr(error, "orig", None) or error), url).strip().splitlines()
    return lines[0] if lines else type(error).__name__


class StateSettingError(TerminalError):
    """TIDEMARK_STATE is no URL of a state store."""

    @classmethod
    def of(cls, found: str, said: str = "") -> Self:
        """`found` is the URL with its secrets masked, `said` what the driver does not take in it."""
        return cls(
            "no state store goes by that setting",
            expected="postgresql+psycopg2://user:password@host:port/database, with the options of PostgreSQL's client",
            found=f"{found} ({' '.join(said.split())})" if said else found,
            where="TIDEMARK_STATE",
            hint="correct the environment variable, or leave it out: the store is the file data/state.db then",
        )


class StateDiskError(TerminalError):
    """A SQLite file on a disk that several machines reach."""

    @classmethod
    def of(cls, file: str, disk: str) -> Self:
        return cls(
            "the state store's file is on a network disk, where locks do not hold and the file breaks",
            expected="a disk of this machine",
            found=disk,
            where=file,
            hint="put the file elsewhere (TIDEMARK_STATE_DB), or take PostgreSQL (TIDEMARK_STATE)",
        )


class StateConflictError(TransientError):
    """Somebody else has written since this writer looked."""

    @classmethod
    def of(cls, expected: int, last: int, who: str, when: datetime | None, what: str) -> Self:
        return cls(
            "two writers of one state store",
            expected=f"transition {expected} to be the last one, as this writer last saw",
            found=f"transition {last}, written by {who or 'nobody'}"
            + (f" at {when.isoformat()}" if when else "")
            + (f" ({what})" if what else ""),
            hint="read on from there and report again; if it comes back, stop one of the two",
        )


class EventKnownError(TransientError):
    """An event id of the transitions is written already."""

    @classmethod
    def of(cls, error: BaseException) -> Self:
        return cls(
            "an event that is written already",
            expected="event ids that no transition has",
            found=str(getattr(error, "orig", None) or error).strip().splitlines()[-1],
            hint="nothing was written; report again, and ask `known_ids` first",
        )


class FencedError(TransientError):
    """A writer that does not hold the lease that it needs, or from whom somebody has taken it."""

    @classmethod
    def of(cls, fence: Fence, fencing_token: int, holder: str) -> Self:
        """`fencing_token` and `holder` are the lease's now."""
        ours = f"fencing token {fence.fencing_token} of the lease '{fence.lease}', held by {fence.holder}"
        is_center = fence.lease == "center"
        return cls(
            "another center is active" if is_center else f"the lease '{fence.lease}' is lost: nothing more is written",
            expected=ours if fence.fencing_token else f"the lease '{fence.lease}'",
            found=f"fencing token {fencing_token}, held by {holder or 'nobody'}",
            hint="ask that one; this one takes its place when it is gone" if is_center else "start it again",
        )


class SchemaTooNewError(TerminalError):
    """The database was written by a later version of this program."""

    @classmethod
    def of(cls, where: str, expected: int, found: int, copy: Path | None) -> Self:
        """`copy` was made before a migration, and this version opens it."""
        way_back = f"the copy {copy.name}, made before the upgrade," if copy else "a backup made before the upgrade"
        return cls(
            "the state store belongs to a later version of Tidemark",
            expected=f"migration {expected} or an earlier one",
            found=f"migration {found}",
            where=where,
            hint=f"install that version again, or put back {way_back} as docs/upgrades.md says",
        )


class DatabaseOfOthersError(TerminalError):
    """The database has tables of another program, with names of ours."""

    @classmethod
    def of(cls, where: str, table: str) -> Self:
        return cls(
            "the state store's database is another program's: nothing was written",
            expected="an empty database, or a state store",
            found=f"a table '{table}' that is not ours, as Dagster's storage has",
            where=where,
            hint="take a file, or make a database, for the state store alone (CREATE DATABASE tidemark), and name it "
            "in TIDEMARK_STATE_DB or TIDEMARK_STATE",
        )


class SnapshotTagTakenError(TerminalError):
    """A tag that stands for another version."""

    @classmethod
    def of(cls, where: str, wanted: int, stored: str) -> Self:
        """`where` is the snapshot, `wanted` the version asked for, `stored` what its tag stands for."""
        return cls(
            "the tag stands for another version",
            expected=f"version {wanted}",
            found=stored,
            where=where,
            hint="forget the entity's tags: ingestion builds them again from the table's log",
        )


class NoSuchBackfillError(TerminalError):
    """A number that no backfill has."""

    @classmethod
    def of(cls, number: int) -> Self:
        return cls(
            "no such backfill", expected="a number of `tidemark backfills`", found=str(number), hint="look there"
        )


class BackfillPhaseError(TerminalError):
    """Something that a backfill cannot do where it is."""

    @classmethod
    def of(cls, number: int, wanted: str, allowed: Sequence[str], phase: str) -> Self:
        """`wanted` is what is to be done with it, and goes in the phases `allowed`; it is in another one."""
        return cls(
            f"backfill {number} cannot be {wanted}",
            expected=f"it is {' or '.join(allowed)}",
            found=f"it is {phase}",
        )


class HostNameTakenError(TransientError):
    """Two pools of warm workers that go by one name."""

    @classmethod
    def of(cls, name: str, seconds: float) -> Self:
        """`seconds` ago the other one was last seen."""
        return cls(
            f"other warm workers are called {name}",
            expected="a name that no other DAGSTER_HOME's workers have",
            found=f"workers of that name, seen {seconds:.0f} s ago",
            where="TIDEMARK_HOST",
            hint="give each its own TIDEMARK_HOST, or wait until the other one is gone",
        )


class RunLostError(TransientError):
    """A run that goes on although it was given up: what it computed is not to be published."""

    @classmethod
    def of(cls, run_id: str, host: str) -> Self:
        return cls(
            "the run was given up, and its slices are somebody else's",
            expected="a run whose host is heard",
            found=f"run {run_id}: nothing was heard of its host {host} for too long",
            hint="nothing has to be done: the center has launched its slices again",
        )


class TokenError(TerminalError):
    """A token that cannot be created, or that there is not."""

    @classmethod
    def of_name(cls, name: str) -> Self:
        return cls(
            "this cannot be the name of a token",
            expected="1 to 64 lower-case letters, digits, '.', '_' and '-', a letter or digit first",
            found=repr(name)[:100],
        )

    @classmethod
    def of_unknown(cls, wanted: str) -> Self:
        return cls(
            "there is no such token",
            expected="a name or an id that `tidemark token list` shows",
            found=repr(wanted)[:100],
        )

    @classmethod
    def of_too_many(cls, name: str, ids: Sequence[str]) -> Self:
        return cls(
            f"{name} has {len(ids)} tokens in force already",
            expected="at most two: the one in use, and the next one",
            found=", ".join(sorted(ids)),
            hint="revoke the one that is not used any more: tidemark token revoke ID",
        )

    @classmethod
    def of_full_store(cls, most: int) -> Self:
        return cls(
            "there are too many tokens", expected=f"fewer than {most:,} in force", hint="tidemark token revoke NAME"
        )
