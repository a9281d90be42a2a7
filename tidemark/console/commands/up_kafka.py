"""`tidemark up-kafka`: the whole chain on this machine."""

from __future__ import annotations

import os
import sys
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

import click

from tidemark.console.output import json_option, print_json, print_line
from tidemark.console.stop_signals import stop_signals

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tidemark.console.cdc_demo.local_stack import Chain
    from tidemark.system.settings import Settings

_DEFAULT_PORT: Final = 3000
_WATCH_SECONDS: Final = 0.25


@click.command()
@click.option(
    "--port", type=click.IntRange(0, 65535), default=_DEFAULT_PORT, show_default=True, help="Of Dagster's UI."
)
@click.option(
    "--day-seconds",
    type=click.FloatRange(5.0),
    default=120.0,
    show_default=True,
    help="How long a recorded day takes.",
)
@json_option
def up_kafka(port: int, day_seconds: float, *, as_json: bool) -> None:
    """Start databases with changing rows, capture them, and compute tables from the changes.

    It starts two MariaDB servers, Kafka, Debezium on Kafka Connect, the distribution, the capture and Dagster, all on
    127.0.0.1, with data and logs in data/kafka. The recorded school of the demo is replayed in the databases, a day in
    two minutes, with their clocks set to March 2026. Days end, snapshots are tagged, and Dagster computes the waiting
    slices. It needs the MariaDB server and, the first time, Maven, and says if one is missing.

    Ctrl-C stops everything; the next start continues. With --json it prints one line with all addresses.
    """
    from tidemark.console.cdc_demo.local_stack import chain  # noqa: PLC0415 - keeps --help fast
    from tidemark.system.settings import Settings  # noqa: PLC0415

    settings = Settings.load(os.environ)
    _require_ready_machine(settings, port, os.environ)
    say: Callable[[str], None] = (lambda text: print_line(text, "dim")) if not as_json else (lambda _: None)
    with stop_signals() as signals, ExitStack() as stack:
        running = stack.enter_context(chain(settings, port, day_seconds, say, lambda: bool(signals)))
        if not signals:
            _announce(running, as_json=as_json)
        while not signals:
            running.watch()
            time.sleep(_WATCH_SECONDS)
        say("Stopping ...")
    if not as_json:
        print_line("Stopped.")


def _require_ready_machine(settings: Settings, port: int, env: Mapping[str, str]) -> None:
    """Raise PreflightError for problems that would make the servers, Dagster or its runs fail later."""
    from tidemark.console.dagster_server.server import HOST  # noqa: PLC0415
    from tidemark.console.preflight import machine  # noqa: PLC0415
    from tidemark.console.preflight.installed_servers import servers  # noqa: PLC0415
    from tidemark.console.preflight.port import port as port_finding  # noqa: PLC0415
    from tidemark.system.check_finding import require_no_problem  # noqa: PLC0415

    ui = [port_finding(HOST, port)] if port else []
    data = machine.writable("Data", settings.data, "TIDEMARK_DATA")
    require_no_problem([machine.java(env), machine.account(), *servers(), data, *ui])


def _announce(running: Chain, *, as_json: bool) -> None:
    where = running.where()
    if as_json:
        print_json({**where, "pid": os.getpid()})
        return
    print_line(f"Dagster UI   {where['url']}", "bold green")
    for name, command in where["databases"].items():
        print_line(f"  database {name} {command}")
    print_line(f"  Kafka      {where['kafka']}   (topics cdc.a, cdc.b, tables.school.orders, ...)")
    print_line(f"  Connect    {where['connect']}/connectors")
    print_line(f"  logs       {where['data']}/*/server.log")
    print_line("  ask        " + " ".join(f"{name}={value}" for name, value in where["environment"].items()) + " \\")
    print_line(f"               {sys.argv[0]} capture status")
    print_line("  stop       Ctrl-C")
