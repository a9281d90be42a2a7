"""`tidemark up`: the Dagster UI on this machine, until a stop signal."""

from __future__ import annotations

import functools
import os
import time
from typing import TYPE_CHECKING, Final

import click

from tidemark.console.output import json_option, print_json, print_line
from tidemark.console.stop_signals import stop_signals

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from tidemark.console.dagster_server.server import DagsterServer
    from tidemark.system.settings import Settings

_DEFAULT_PORT: Final = 3000
_WATCH_SECONDS: Final = 0.2


@click.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=_DEFAULT_PORT,
    show_default=True,
    help="The TCP port on 127.0.0.1; 0 picks a free one.",
)
@click.option("--workers/--no-workers", "has_workers", default=True, help="Whether this machine executes runs.")
@click.option(
    "--allowed-host",
    "allowed_hosts",
    multiple=True,
    envvar="TIDEMARK_ALLOWED_HOSTS",
    show_envvar=True,
    help="Another name of this server, for example of a proxy; may be repeated. Requests to unknown names are refused.",
)
@json_option
def up(port: int, allowed_hosts: tuple[str, ...], *, has_workers: bool, as_json: bool) -> None:
    """Serve the Dagster UI on this machine.

    It shows every table as an asset in its layer (ods, dwd, dws, ads), with the data of `tidemark demo`. You can
    materialize slices and start backfills over partitions. The server has no password, so it listens only on 127.0.0.1.
    For other machines, use a proxy with a password on this machine that passes the Host header on. Ctrl-C stops the
    server with active runs; a second Ctrl-C does not wait for them.

    With --no-workers, hosts with `tidemark workers` execute the runs.

    With --json it prints one line with its address when it is ready.
    """
    from tidemark.console.dagster_server.dagster_home import dagster_home, prepare_home  # noqa: PLC0415 - keeps --help fast
    from tidemark.console.dagster_server.server import HOST, DagsterServer  # noqa: PLC0415
    from tidemark.system.errors import ServedAlreadyError  # noqa: PLC0415
    from tidemark.system.free_port import free_port  # noqa: PLC0415
    from tidemark.system.served_project import serve_alone, served_at  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warm_runs.host_supervisor import supervised  # noqa: PLC0415

    settings = Settings.load(os.environ)
    home = dagster_home(settings, os.environ)
    workers_log = settings.data / "logs" / "workers.log"
    if served := served_at(home):
        raise ServedAlreadyError.of(home, served)
    port = port or free_port(HOST)
    _require_ready_machine(settings, port, os.environ)
    prepare_home(settings, home)
    with serve_alone(home, f"http://{HOST}:{port}"), stop_signals() as signals:
        log = settings.data / "logs" / "dagster.log"
        server = DagsterServer.start(settings.root, home, port, log, os.environ, allowed_hosts)
        try:
            start_workers = functools.partial(supervised, home, workers_log, os.environ, has_workers=has_workers)
            _serve(server, start_workers, signals, as_json=as_json)
        finally:
            server.stop(in_a_hurry=lambda: len(signals) > 1)
    if not as_json:
        print_line("Stopped.")


def _require_ready_machine(settings: Settings, port: int, env: Mapping[str, str]) -> None:
    """Raise PreflightError for problems that would make Dagster or its runs fail later."""
    from tidemark.console.dagster_server.dagster_home import dagster_home  # noqa: PLC0415
    from tidemark.console.dagster_server.server import HOST  # noqa: PLC0415
    from tidemark.console.preflight import machine  # noqa: PLC0415
    from tidemark.console.preflight.capture import capture  # noqa: PLC0415
    from tidemark.console.preflight.port import port as port_finding  # noqa: PLC0415
    from tidemark.system.check_finding import require_no_problem  # noqa: PLC0415

    require_no_problem(
        [
            machine.java(env),
            machine.account(),
            machine.writable("Data", settings.data, "TIDEMARK_DATA"),
            machine.writable("Dagster's storage", dagster_home(settings, env), "DAGSTER_HOME"),
            port_finding(HOST, port),
            *capture(settings),
        ]
    )


def _serve(
    server: DagsterServer,
    start_workers: Callable[[], AbstractContextManager[Callable[[], None]]],
    signals: list[int],
    *,
    as_json: bool,
) -> None:
    """Report when it is ready, then watch it until a signal. Raises DagsterStartError if it ends by itself."""
    if not as_json:
        print_line("Dagster is starting ...")
    if not server.wait_until_ready(stopped=lambda: bool(signals)):
        return
    _announce(server, as_json=as_json)
    # Not earlier: on a new DAGSTER_HOME, only one process may create Dagster's storage.
    with start_workers() as check_workers:
        while not signals:
            server.check_running()
            check_workers()
            time.sleep(_WATCH_SECONDS)


def _announce(server: DagsterServer, *, as_json: bool) -> None:
    errors = server.load_errors()
    if as_json:
        print_json({"url": server.url, "pid": os.getpid(), "log": str(server.log), "load_errors": errors})
        return
    print_line(f"Dagster UI   {server.url}", "bold green")
    print_line(f"  tables     {server.url}/asset-groups   (open one, then Materialize)")
    print_line(f"  log        {server.log}")
    print_line("  stop       Ctrl-C")
    for error in errors:
        print_line(f"The definitions do not load. {error}", "bold red")
