"""The options of warm workers, from the launcher's configuration in dagster.yaml."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import dagster as dg

_FOLDER: Final = "warm_runs"


@dataclass(frozen=True, slots=True)
class WarmWorkerOptions:
    """The number of workers, their code, and when one is replaced.

    - `modules`: code locations that a worker loads at its start; it loads others at their first run.
    - `watch`: packages in which a changed file makes workers load everything again.
    - `workers`: by default as many as TIDEMARK_POOLS has slots.
    - `runs_a_worker`, `megabytes`: limits of runs and of memory with the JVM, after which a worker is replaced.
    - `waiting`: the most runs that wait for a worker; more are refused.
    - `load_seconds`, `silent_seconds`: a worker that is not ready, or silent, for so long is killed and replaced.
    - `wait_told_seconds`: the interval of reports of a waiting run, less than Dagster's `start_timeout_seconds`.
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
    """The folder of an instance's host, with its lock, journal and address."""
    return folder_in(Path(instance.root_directory))


def folder_in(home: Path) -> Path:
    """The folder of the host of a DAGSTER_HOME."""
    return home / _FOLDER
