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
    """The database does not answer. The current write was made completely or not at all."""

    @classmethod
    def of(cls, url: URL, error: BaseException, hint: str = "") -> Self:
        return cls(
            "the state store's database does not answer",
            found=_cause(error, url),
            where=masked_url(url),
            hint=hint or "nothing is lost: report again when it answers",
        )


class StateStoreDamagedError(TerminalError):
    """The database answers, but its contents are damaged."""

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
        """An empty file, which Tidemark never leaves, while the lake has tables."""
        return cls(
            "the state store is empty, but the lake has tables: it was truncated, and nothing was written",
            expected="a SQLite database, or no file",
            found="a file of 0 bytes",
            where=str(file),
            hint="restore a backup: tidemark restore BACKUP --replace; or remove the file: the store is built again "
            f"from Dagster's log then (docs/operations.md, 'The state store is missing'; the lake is {lake})",
        )


def _cause(error: BaseException, url: URL) -> str:
    """The first line of the driver's message, without secrets."""
    lines = without_secrets(str(getattr(error, "orig", None) or error), url).strip().splitlines()
    return lines[0] if lines else type(error).__name__


class StateSettingError(TerminalError):
    """TIDEMARK_STATE is not a URL of a state store."""

    @classmethod
    def of(cls, found: str, said: str = "") -> Self:
        """`found` is the URL with masked secrets, `said` the driver's message."""
        return cls(
            "the setting does not name a state store",
            expected="postgresql+psycopg2://user:password@host:port/database, with the options of PostgreSQL's client",
            found=f"{found} ({' '.join(said.split())})" if said else found,
            where="TIDEMARK_STATE",
            hint="correct the environment variable, or unset it to use the file data/state.db",
        )


class StateDiskError(TerminalError):
    """A SQLite file on a network disk."""

    @classmethod
    def of(cls, file: str, disk: str) -> Self:
        return cls(
            "the state store's file is on a network disk, where locks fail and the file gets damaged",
            expected="a disk of this machine",
            found=disk,
            where=file,
            hint="move the file (TIDEMARK_STATE_DB), or use PostgreSQL (TIDEMARK_STATE)",
        )


class StateConflictError(TransientError):
    """Another writer has written since this writer's last read."""

    @classmethod
    def of(cls, expected: int, last: int, who: str, when: datetime | None, what: str) -> Self:
        return cls(
            "two writers of one state store",
            expected=f"transition {expected} as the last one, which this writer read last",
            found=f"transition {last}, written by {who or 'an unknown writer'}"
            + (f" at {when.isoformat()}" if when else "")
            + (f" ({what})" if what else ""),
            hint="read the newer transitions and report again; if the error repeats, stop one of the two writers",
        )


class EventKnownError(TransientError):
    """A transition with this event id exists already."""

    @classmethod
    def of(cls, error: BaseException) -> Self:
        return cls(
            "an event with this id exists already",
            expected="new event ids",
            found=str(getattr(error, "orig", None) or error).strip().splitlines()[-1],
            hint="nothing was written; report again, and ask `known_ids` first",
        )


class FencedError(TransientError):
    """The writer does not hold its lease, or has lost it."""

    @classmethod
    def of(cls, fence: Fence, fencing_token: int, holder: str) -> Self:
        """`fencing_token` and `holder` are the current ones of the lease."""
        ours = f"fencing token {fence.fencing_token} of the lease '{fence.lease}', held by {fence.holder}"
        is_center = fence.lease == "center"
        return cls(
            "another center is active" if is_center else f"the lease '{fence.lease}' is lost: nothing more is written",
            expected=ours if fence.fencing_token else f"the lease '{fence.lease}'",
            found=f"fencing token {fencing_token}, held by {holder or 'no process'}",
            hint="use that center; this one takes over when it ends" if is_center else "start it again",
        )


class SchemaTooNewError(TerminalError):
    """A later version of Tidemark wrote the database."""

    @classmethod
    def of(cls, where: str, expected: int, found: int, copy: Path | None) -> Self:
        """`copy` was made before a migration; this version can open it."""
        way_back = f"the copy {copy.name}, made before the upgrade," if copy else "a backup made before the upgrade"
        return cls(
            "the state store belongs to a later version of Tidemark",
            expected=f"migration {expected} or an earlier one",
            found=f"migration {found}",
            where=where,
            hint=f"install that version again, or restore {way_back} (docs/upgrades.md)",
        )


class DatabaseOfOthersError(TerminalError):
    """The database has tables of another program with the same names."""

    @classmethod
    def of(cls, where: str, table: str) -> Self:
        return cls(
            "the state store's database belongs to another program: nothing was written",
            expected="an empty database, or a state store",
            found=f"a table '{table}' of another program, for example Dagster's storage",
            where=where,
            hint="use a separate file or database for the state store (CREATE DATABASE tidemark), and name it "
            "in TIDEMARK_STATE_DB or TIDEMARK_STATE",
        )


class SnapshotTagTakenError(TerminalError):
    """The tag names another version."""

    @classmethod
    def of(cls, where: str, wanted: int, stored: str) -> Self:
        """`where` is the snapshot, `wanted` the requested version, `stored` the version of its tag."""
        return cls(
            "the tag names another version",
            expected=f"version {wanted}",
            found=stored,
            where=where,
            hint="remove the entity's tags: capture creates them again from the table's log",
        )


class NoSuchBackfillError(TerminalError):
    """No backfill has this number."""

    @classmethod
    def of(cls, number: int) -> Self:
        return cls(
            "the backfill does not exist",
            expected="a number of `tidemark backfills`",
            found=str(number),
            hint="look there",
        )


class BackfillPhaseError(TerminalError):
    """The action does not fit the phase of the backfill."""

    @classmethod
    def of(cls, number: int, wanted: str, allowed: Sequence[str], phase: str) -> Self:
        """`wanted` is the action, which fits the phases `allowed`."""
        return cls(
            f"backfill {number} cannot be {wanted}",
            expected=f"it is {' or '.join(allowed)}",
            found=f"it is {phase}",
        )


class HostNameTakenError(TransientError):
    """Two pools of warm workers have the same host name."""

    @classmethod
    def of(cls, name: str, seconds: float) -> Self:
        """The other one was last seen `seconds` ago."""
        return cls(
            f"other warm workers have the name {name}",
            expected="a unique name for each DAGSTER_HOME",
            found=f"workers of that name, seen {seconds:.0f} s ago",
            where="TIDEMARK_HOST",
            hint="give each its own TIDEMARK_HOST, or wait until the other host has ended",
        )


class RunLostError(TransientError):
    """A run that continues after it was given up: its results must not be published."""

    @classmethod
    def of(cls, run_id: str, host: str) -> Self:
        return cls(
            "the run was given up, and another run computes its slices",
            expected="a run whose host is alive",
            found=f"run {run_id}: its host {host} sent no heartbeat for too long",
            hint="nothing to do: the center launches its slices again",
        )


class TokenError(TerminalError):
    """A token cannot be created, or does not exist."""

    @classmethod
    def of_name(cls, name: str) -> Self:
        return cls(
            "invalid name of a token",
            expected="1 to 64 lower-case letters, digits, '.', '_' and '-', a letter or digit first",
            found=repr(name)[:100],
        )

    @classmethod
    def of_unknown(cls, wanted: str) -> Self:
        return cls(
            "the token does not exist",
            expected="a name or an id that `tidemark token list` shows",
            found=repr(wanted)[:100],
        )

    @classmethod
    def of_too_many(cls, name: str, ids: Sequence[str]) -> Self:
        return cls(
            f"{name} has {len(ids)} tokens in force already",
            expected="at most two: the one in use, and the next one",
            found=", ".join(sorted(ids)),
            hint="revoke the unused one: tidemark token revoke ID",
        )

    @classmethod
    def of_full_store(cls, most: int) -> Self:
        return cls(
            "there are too many tokens", expected=f"fewer than {most:,} in force", hint="tidemark token revoke NAME"
        )
