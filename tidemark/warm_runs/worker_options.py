"""What warm workers are: read from the launcher's configuration in dagster.yaml."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import dagster as dg

_FOLDER: Final = "warm_runs"


@dataclass(frozen=True, slots=True)
class WarmWorkerOptions:
    """How many workers there are, what they load, and when one is replaced.

    `modules` are code locations that a worker loads when it starts, others at their first run; `watch` are packages in
    which a changed file makes workers load everything again. After `runs_a_worker` runs, or above `megabytes` of
    memory with its JVM, a worker is replaced. Where dagster.yaml names no `workers`,
    there are as many as TIDEMARK_POOLS has slots. `waiting` runs may wait for a worker, others are refused.
    A worker that is not ready after `load_seconds`, or says nothing for `silent_seconds`, is killed and replaced. A run
    that waits is said to do so every `wait_told_seconds`, less than Dagster lets a run start (`start_timeout_seconds`).
    """

    modules: tuple[str, ...] = ()
    watch: tuple[str, ...] = ()
    workers: int = 2
    runs_a_worker: int = 500
    megabytes: int = 4_000
    waiting: int = 200
    spark: bool = True
    load_seconds: int = 600
    silent_seconds: int = 120
    wait_told_seconds: int = 45


DEFAULT_OPTIONS: Final = WarmWorkerOptions()


def host_folder(instance: dg.DagsterInstance) -> Path:
    """Where the host of an instance keeps its lock, its journal and its address."""
    return folder_in(Path(instance.root_directory))


def folder_in(home: Path) -> Path:
    """The same, by DAGSTER_HOME."""
    return home / _FOLDER
