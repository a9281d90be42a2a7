"""Dagster's storage, by its home: a folder of SQLite files, or a PostgreSQL database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import yaml
from dagster import DagsterError

from tidemark.backup.errors import BackupSourceError
from tidemark.dagster_internals.storage_place import storage_place

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

HISTORY: Final = "history"
RUNS: Final = f"{HISTORY}/runs"
SCHEDULES: Final = "schedules"
FIRST: Final = (f"{HISTORY}/runs.db", f"{RUNS}/index.db")
"""The files of the runs and of the events' index; each run's own events are in a separate file."""


def storage_of(configured: Path, env: Mapping[str, str]) -> Path | str:
    """The folder, or the PostgreSQL URL, by the dagster.yaml of a folder. Raises BackupSourceError."""
    try:
        place = storage_place(configured, env)
    except (DagsterError, yaml.YAMLError) as error:
        raise BackupSourceError.unreadable_home(configured, str(error).splitlines()[0]) from error
    if place is None:
        raise BackupSourceError.unknown_storage(configured)
    return place


def sqlite_files(storage: Path) -> list[Path]:
    """All SQLite files that exist."""
    return sorted(file for folder in (HISTORY, SCHEDULES) for file in (storage / folder).glob("**/*.db"))
