"""`tidemark workers`: warm workers of this host, for runs of all hosts with the same state store."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, Final

import click

from tidemark.console.output import json_option, print_json, print_line, print_table
from tidemark.console.service_beat import ServiceBeat
from tidemark.console.stop_signals import stop_signals

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.state_store.worker_hosts import WorkerHost
    from tidemark.system.settings import Settings

_WATCH_SECONDS: Final = 0.5
_ANSWER_SECONDS: Final = 5.0
_STORE_SECONDS: Final = 20.0
_HEADINGS: Final = ("", "host", "slots", "running", "pools", "seen", "code")


@click.command()
@click.option("--list", "is_list", is_flag=True, help="List the hosts with workers.")
@json_option
def workers(*, is_list: bool, as_json: bool) -> None:
    """Serve warm workers on this machine: an idle worker executes runs that any host launches.

    The machine needs the project, the same PostgreSQL as the other hosts for TIDEMARK_STATE and for Dagster (`storage`
    in dagster.yaml), and access to the lake. Nothing listens on the network: a host takes runs from the state store. It
    has as many workers as its TIDEMARK_POOLS has slots. Its name is TIDEMARK_HOST, or else the name of the machine; a
    second host with this name is refused while the first is alive. A host with other code does not take a run.

    Ctrl-C stops it. Active runs fail, and their slices are launched again on other hosts.

    \b
    Exit codes: 0 stopped, or listed; 1 the settings cannot be shared with other hosts;
                75 the state store does not answer, or the name is taken.
    With --json: {"host", "pid", "log"} once it has started; with --list {"hosts": [{"host", "is_there", "slots",
                 "running", "pools", "seen_seconds", "code"}]}
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.system.settings import Settings  # noqa: PLC0415 - keeps --help fast

    settings = Settings.load(os.environ)
    if is_list:
        _print_hosts(settings, as_json=as_json)
    else:
        _serve(settings, as_json=as_json)


def _serve(settings: Settings, *, as_json: bool) -> None:
    import dagster as dg  # noqa: PLC0415

    from tidemark.console.dagster_server.dagster_home import dagster_home, prepare_home  # noqa: PLC0415
    from tidemark.console.dagster_server.dagster_warnings import hide_notices  # noqa: PLC0415
    from tidemark.console.preflight import machine  # noqa: PLC0415
    from tidemark.system.check_finding import require_no_problem  # noqa: PLC0415
    from tidemark.warm_runs.host_supervisor import WorkerHostSupervisor  # noqa: PLC0415
    from tidemark.warm_runs.shared_runs import require_shared  # noqa: PLC0415
    from tidemark.warm_runs.worker_options import folder_in  # noqa: PLC0415

    home, log = dagster_home(settings, os.environ), settings.data / "logs" / "workers.log"
    require_no_problem(
        [machine.java(os.environ), machine.account(), machine.writable("Data", settings.data, "TIDEMARK_DATA")]
    )
    prepare_home(settings, home)
    beat = ServiceBeat(settings.data, "workers")
    hide_notices()
    with dg.DagsterInstance.from_config(str(home)) as instance:
        require_shared(settings, instance)
    with stop_signals() as signals, WorkerHostSupervisor(home, log, os.environ) as supervisor:
        _announce(settings.host, str(log), as_json=as_json)
        while not signals:
            supervisor.check()
            if _take_runs(folder_in(home)):
                beat.beat()
            time.sleep(_WATCH_SECONDS)
    if not as_json:
        print_line("Stopped.")


def _take_runs(folder: Path) -> bool:
    """Whether the host answers, its workers start, and the state store has its heartbeat."""
    from tidemark.warm_runs.errors import WorkersDownError  # noqa: PLC0415
    from tidemark.warm_runs.host_socket import ask  # noqa: PLC0415

    try:
        status = ask(folder, {"do": "status"}, _ANSWER_SECONDS)
    except WorkersDownError:
        return False
    return bool(status["healthy"]) and status.get("seconds_since_store", 0.0) < _STORE_SECONDS


def _announce(host: str, log: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"host": host, "pid": os.getpid(), "log": log})
        return
    print_line(f"Workers      {host}", "bold green")
    print_line("  hosts      tidemark workers --list")
    print_line(f"  log        {log}")
    print_line("  stop       Ctrl-C")


def _print_hosts(settings: Settings, *, as_json: bool) -> None:
    from tidemark.state_store.database import Database  # noqa: PLC0415
    from tidemark.state_store.worker_hosts import WorkerHosts  # noqa: PLC0415

    database = Database.of(settings)
    hosts = WorkerHosts(database).all()
    database.close()
    if as_json:
        print_json({"hosts": [_as_data(host) for host in hosts]})
        return
    rows = [_row(host) for host in hosts]
    print_table(_HEADINGS, rows, ["" if host.is_there else "dim" for host in hosts])
    if not hosts:
        print_line("No host has taken runs from this state store yet: start `tidemark workers`.")
    if len({host.pool.code for host in hosts if host.is_there}) > 1:
        print_line("The hosts have different code: only hosts with the launching host's code take a run.", "yellow")


def _row(host: WorkerHost) -> list[str]:
    pool, there = host.pool, "there" if host.is_there else "gone"
    return [there, host.name, str(pool.slots), str(host.running), pool.pools, f"{host.seen_seconds:.0f} s", pool.code]


def _as_data(host: WorkerHost) -> dict[str, Any]:
    return {
        "host": host.name,
        "is_there": host.is_there,
        "slots": host.pool.slots,
        "running": host.running,
        "pools": host.pool.pools,
        "seen_seconds": round(host.seen_seconds, 3),
        "code": host.pool.code,
    }
