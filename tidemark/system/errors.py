"""Errors of the resources, below the one root.

TerminalError
├── SettingsError   a setting that cannot be used
│   └── PoolSettingError  a text that does not declare pools
├── LocationError   a place for the lake that cannot be used (tidemark.system.location_error)
├── NoProjectError     no tidemark.yaml where a command needs one
├── ServedAlreadyError    a second `tidemark up` of one project
├── DiskPathError   a folder that cannot be written
├── JavaMissingError   no Java that Spark can run on
├── JarsError    Spark's extra jars could not be resolved
├── SparkStartError    the Spark session did not start
├── SparkConfError    a user's Spark setting that cannot be used
├── SchemaChangedError    a write that would drop or retype a column
├── SnapshotTagTakenError a tag that already names another version (tidemark.state_store.errors)
├── StateDiskError     a SQLite file on a network disk   (tidemark.state_store.errors)
├── StateStoreDamagedError   a state store that cannot be read (tidemark.state_store.errors)
├── SchemaTooNewError  a state store of a later version (tidemark.state_store.errors)
└── CaptureError    incoming records that cannot be taken in (tree in tidemark.capture.errors)
TransientError
├── StateStoreDownError   the database does not answer    (tidemark.state_store.errors)
├── StateConflictError   two writers of one state store  (tidemark.state_store.errors)
├── FencedError     a writer without the lease it needs   (tidemark.state_store.errors)
├── WorkersDownError   no warm worker takes a run now  (tidemark.warm_runs.errors)
└── AlreadyRunningError   another process does the same now
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from tidemark.errors import TerminalError, TransientError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pydantic import ValidationError

    from tidemark.system.table_location import TableLocation


class SettingsError(TerminalError):
    """A setting that cannot be used."""

    @classmethod
    def of(cls, error: ValidationError, places: Mapping[str, str], prefix: str) -> Self:
        """`places` has the place of each setting of tidemark.yaml. Others came from variables with this prefix."""
        first = error.errors()[0]
        setting = str(first["loc"][0])
        variable = prefix + setting.upper()
        where = places.get(setting)
        return cls(
            "the setting cannot be used",
            found=f"{first['input']!r}: {first['msg']}",
            where=where or variable,
            hint="correct it there" if where else f"correct the environment variable {variable}, or unset it",
        )


class NoProjectError(TerminalError):
    """No tidemark.yaml where a command needs one."""

    @classmethod
    def above(cls, start: Path, file: str) -> Self:
        return cls(
            "this is not a Tidemark project",
            expected=f"a file {file} in the working folder or in a folder above it",
            found=f"none in {start} or above",
            where=str(start),
            hint="write a project with `tidemark init my_warehouse`, `cd` into one, or name its folder with `--root`",
        )

    @classmethod
    def at(cls, root: Path, file: str) -> Self:
        return cls(
            "this is not a Tidemark project",
            expected=f"a folder with a file {file}",
            found="the file does not exist" if root.is_dir() else "the folder does not exist",
            where=str(root),
            hint="correct `--root` or the environment variable TIDEMARK_ROOT, or write a project with `tidemark init`",
        )


class PoolSettingError(SettingsError):
    """A text that does not declare pools."""


class DiskPathError(TerminalError):
    """A folder that cannot be written."""

    @classmethod
    def of(cls, path: Path, error: OSError) -> Self:
        return cls(
            "the folder cannot be written",
            expected="a folder with the right to create files in it",
            found=error.strerror or str(error),
            where=str(path),
            hint="free some space, grant write access, or choose another folder with TIDEMARK_DATA",
        )


class JavaMissingError(TerminalError):
    """No Java that Spark can run on."""

    @classmethod
    def of(cls, problem: str) -> Self:
        problem_text, _, hint = problem.partition(": ")
        return cls(problem_text, where="Java", hint=hint)


class JarsError(TerminalError):
    """Spark's extra jars could not be resolved."""

    @classmethod
    def unresolved(cls, wanted: Sequence[str], output: str) -> Self:
        return cls(
            f"cannot fetch {', '.join(wanted)}",
            found="\n".join(output.splitlines()[-10:]),
            where="python -m tidemark.spark.jars",
            hint="connect to a Maven repository (DEFAULT_ARTIFACT_REPOSITORY names a mirror) and run it again",
        )


class SparkStartError(TerminalError):
    """The Spark session did not start."""

    @classmethod
    def of(cls, master: str, log: str) -> Self:
        return cls(
            "the Spark session did not start",
            found=f"the JVM ended with\n{log}\n",
            where=f"TIDEMARK_SPARK_MASTER={master}",
            hint="if memory is too small, set TIDEMARK_SPARK_MEMORY",
        )

    @classmethod
    def of_unknown_account(cls, number: int) -> Self:
        return cls(
            "Spark does not start for an account without a name",
            expected="an entry of this account in the password file, which Hadoop's login reads",
            found=f"the account {number}",
            hint=add_account(number),
        )


def add_account(number: int) -> str:
    """What gives an account a name."""
    entry = f"tidemark:x:{number}:0::/tmp:/bin/false"
    return f"as root: echo {entry} >> /etc/passwd; in a container, run the image by an account that it has"


class SparkConfError(TerminalError):
    """A user's Spark setting that cannot be used."""


class SchemaChangedError(TerminalError):
    """A write that would drop or retype a column."""

    @classmethod
    def of(cls, path: TableLocation, lost: Sequence[str], changed: Sequence[str]) -> Self:
        differences = [f"no column {name}" for name in lost] + [f"another type: {change}" for change in changed]
        return cls(
            "the rows do not fit the table",
            expected="every column of the table with its type (new ones may be added)",
            found="; ".join(differences),
            where=str(path),
            hint=f"write a lost column as NULL of its type, cast the others, or: tidemark apply {path.name} --rebuild",
        )

    @classmethod
    def of_names(cls, path: TableLocation, names: Sequence[str]) -> Self:
        return cls(
            "the rows have columns with invalid names",
            expected="each name once, whatever its case, without blanks and any of ,;{}()=",
            found="; ".join(names),
            where=str(path),
            hint="rename each column: .. AS name",
        )

    @classmethod
    def of_foreign_types(cls, path: TableLocation, columns: Sequence[str]) -> Self:
        return cls(
            "the rows have types that Delta does not store",
            expected="numbers, texts, BINARY, BOOLEAN, DATE, TIMESTAMP(_NTZ), VARIANT, and ARRAY, MAP, STRUCT of these",
            found="; ".join(columns),
            where=str(path),
            hint="cast them: an empty array() to ARRAY<STRING>, an INTERVAL or a TIME to STRING",
        )

    @classmethod
    def partition_columns_given(cls, path: TableLocation, columns: Sequence[str]) -> Self:
        return cls(
            "a partition column is in the rows more than once",
            expected="at most once, with the slice's own value",
            found=", ".join(columns),
            where=str(path),
            hint="leave it out of the SELECT list",
        )

    @classmethod
    def partitioned_otherwise(cls, path: TableLocation, there: Sequence[str], wanted: Sequence[str]) -> Self:
        return cls(
            "the table is partitioned by something else",
            expected=f"partitions by {', '.join(wanted)}",
            found=", ".join(there) or "no partitions",
            where=str(path),
            hint=f"an entity whose period changed needs a new table: tidemark apply {path.name} --rebuild",
        )


class CaptureError(TerminalError):
    """Incoming records that cannot be merged."""


class AlreadyRunningError(TransientError):
    """Another process does the same now."""

    @classmethod
    def of(cls, what: str, lease: str, holder: str, where: str) -> Self:
        """`lease` is held by `holder`; `where` is the state store."""
        return cls(
            f"another process is at {what} with the same data",
            expected=f"the lease '{lease}'",
            found=f"held by {holder}",
            where=where,
            hint="wait until it ends, or stop it; if it died on another machine, its lease ends within 30 s",
        )


class ServedAlreadyError(TerminalError):
    """A second `tidemark up` of one project."""

    @classmethod
    def of(cls, home: Path, served: object) -> Self:
        """`served` is the other process, None if it is not known yet."""
        return cls(
            "another `tidemark up` serves this project",
            expected="one `tidemark up` for each DAGSTER_HOME: two daemons would start each run twice",
            found=str(served) if served else "a process whose address is not known yet",
            where=str(home),
            hint="use it, or stop it with Ctrl-C",
        )
