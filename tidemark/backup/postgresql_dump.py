"""A PostgreSQL database as one file, by PostgreSQL's programs pg_dump and pg_restore."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import create_engine
from sqlalchemy.exc import DBAPIError

from tidemark.backup.errors import BackupProgramError
from tidemark.quoting.standard import quote
from tidemark.system.installed_programs import find_program
from tidemark.system.masked_urls import POSTGRESQL, masked_url, read_url, without_secrets

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from sqlalchemy import URL

_ASIDE: Final = "before_restore_"


class PostgresqlDatabase:
    """A database by its URL. All methods raise BackupProgramError if a program is missing or fails."""

    def __init__(self, url: str) -> None:
        self._url = read_url(url, (POSTGRESQL,))

    @property
    def where(self) -> str:
        """The URL for people, with its password masked."""
        return masked_url(self._url)

    def size_bytes(self) -> int:
        """The database's size on its server's disk; a dump is smaller."""
        size: int = self._ask("SELECT pg_database_size(current_database())")
        return size

    def dump(self, file: Path) -> None:
        """Write all tables as of one instant, without tables that an earlier restore moved aside."""
        self._run("pg_dump", ["--format=custom", "--no-owner", "--no-privileges", f"--exclude-schema={_ASIDE}*"], file)

    def restore(self, file: Path) -> None:
        """Create the tables of a dump: all or none."""
        self._run("pg_restore", ["--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction", str(file)])

    def has_tables(self) -> bool:
        """Whether the current schema has tables."""
        tables = "SELECT count(*) FROM information_schema.tables WHERE table_schema = current_schema()"
        return bool(self._ask(tables))

    def move_aside(self, now: datetime) -> str:
        """Rename the current schema and create an empty one of its name. Returns the old one's new name."""
        schema, aside = str(self._ask("SELECT current_schema()")), f"{_ASIDE}{now:%Y%m%d_%H%M%S}"
        self._ask(f"ALTER SCHEMA {_name(schema)} RENAME TO {_name(aside)}", f"CREATE SCHEMA {_name(schema)}")
        return aside

    def _ask(self, *statements: str) -> Any:
        """The first value of the last statement; all run in one transaction."""
        engine = create_engine(self._url)
        try:
            with engine.begin() as connection:
                for statement in statements:
                    result = connection.exec_driver_sql(statement)
                return result.scalar() if result.returns_rows else None
        except DBAPIError as error:
            said = without_secrets(str(error.orig), self._url).strip()
            raise BackupProgramError.failed("PostgreSQL", self.where, said) from error
        finally:
            engine.dispose()

    def _run(self, name: str, options: Sequence[str], output: Path | None = None) -> None:
        program = find_program(name)
        if program is None:
            raise BackupProgramError.missing(name)
        into = [f"--file={output}"] if output else []
        command = [program, f"--dbname={_without_password(self._url)}", "--no-password", *into, *options]
        done = subprocess.run(command, env=_environment(self._url), capture_output=True, text=True, check=False)
        if done.returncode:
            said = without_secrets(done.stderr, self._url).strip().splitlines()
            raise BackupProgramError.failed(name, self.where, "; ".join(said[:3]))


def _name(schema: str) -> str:
    return quote(schema, "postgresql")


def _without_password(url: URL) -> str:
    """The URL for libpq without its password, because every account of the machine sees a command line."""
    query = {name: value for name, value in url.query.items() if name != "password"}
    plain = url.set(drivername="postgresql", query=query)
    return plain._replace(password=None).render_as_string(hide_password=False)


def _environment(url: URL) -> dict[str, str]:
    password = url.password or url.query.get("password")
    return {**os.environ, **({"PGPASSWORD": str(password)} if password else {})}
