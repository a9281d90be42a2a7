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
    """

    modules: tuple[str, ...] = ()
    watch: tuple[str, ...] = ()
    workers: int = 2
    runs_a_worker: int = 500
    megabytes: int = 4_000
    waiting: int = 200
    spark: bool = True


def host_folder(instance: dg.DagsterInstance) -> Path:
    """Where the host of an instance keeps its lock, its journal and its address."""
    return folder_in(Path(instance.root_directory))


def folder_in(home: Path) -> Path:
    """The same, by DAGSTER_HOME."""
    return home / _FOLDER
