"""Checks whether the shared state store answers, and which hosts take runs from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.errors import TidemarkError, TransientError
from tidemark.system.check_finding import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.state_store.worker_hosts import WorkerHost
    from tidemark.system.settings import Settings

_STORE = "State store"
_HOSTS = "Worker hosts"
_TO_DO = "restore a backup; or start the center, then run `tidemark doctor --after-restore`"


def shared_state(settings: Settings) -> list[Finding]:
    """Findings about the state store, and about hosts if TIDEMARK_STATE names a shared server."""
    from tidemark.state_store.lost_file import BUILT_AGAIN, is_lost  # noqa: PLC0415 - only where it is asked

    if is_lost(settings):
        return [Finding(_STORE, "warning", f"{BUILT_AGAIN}: {settings.state_db}", _TO_DO)]
    if not settings.state and not settings.state_db.exists():
        return []
    from tidemark.state_store.database import Database  # noqa: PLC0415
    from tidemark.state_store.unattended_runs import UnattendedRuns  # noqa: PLC0415
    from tidemark.state_store.worker_hosts import WorkerHosts  # noqa: PLC0415

    try:
        database = Database.of(settings)
        if not settings.state:
            database.close()
            return [Finding(_STORE, "ok", database.where)]
        hosts, waiting = WorkerHosts(database).present(), len(UnattendedRuns(database).waiting(0.0))
        database.close()
    except TransientError as error:
        to_do = "start it, or correct TIDEMARK_STATE" if settings.state else error.hint
        return [Finding(_STORE, "unreachable", error.found or error.message, to_do or "")]
    except TidemarkError as error:
        return [Finding(_STORE, "problem", error.found or error.message, error.hint or "correct TIDEMARK_STATE")]
    return [Finding(_STORE, "ok", database.where), _of_hosts(hosts, waiting)]


def _of_hosts(hosts: Sequence[WorkerHost], waiting: int) -> Finding:
    wait = f"; waiting runs: {waiting}" if waiting else ""
    if not hosts:
        said = f"no host is alive{wait}"
        if waiting:
            return Finding(_HOSTS, "warning", said, "start `tidemark workers` on a host")
        return Finding(_HOSTS, "ok", f"{said}: each host executes its own runs")
    said = ", ".join(f"{host.name} ({host.running} of {host.pool.slots} slots)" for host in hosts) + wait
    if len({host.pool.code for host in hosts}) > 1:
        to_do = "deploy the same code: only hosts with the launching host's code take a run"
        return Finding(_HOSTS, "warning", f"{said}; they have different code", to_do)
    return Finding(_HOSTS, "ok", said)
