"""`tidemark center`: the dependency center as a service, until it is told to stop."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Final

import click

from console.output import json_option, print_error, print_json, print_line
from console.signals import stop_signals

if TYPE_CHECKING:
    import dagster as dg

    from sensors.dependency_center.host import Intake

_DEFAULT_PORT: Final = 3080
_TURN_SECONDS: Final = 0.2
_WIPED_EVERY: Final = 300
_AGAIN_SECONDS: Final = 2.0


@click.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=_DEFAULT_PORT,
    show_default=True,
    help="The TCP port of the HTTP interface; 0 picks a free one.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on; others need a token.")
@click.option("--token", envvar="TIDEMARK_TOKEN", show_envvar=True, help="What callers have to name, 16 characters on.")
@json_option
def center(port: int, host: str, token: str | None, *, as_json: bool) -> None:
    """Take in what happens, and tell what waits, as a service.

    It follows Dagster's event log, named snapshots and the clock, and answers over HTTP: other schedulers report to it
    (POST /v1/reports) and ask what a slice waits for (GET /v1/slices?subject=ods_orders@2026-03-29). What is released
    is in the state store; the readiness sensor of `tidemark up` starts the runs.

    It listens on this machine only, unless told otherwise and given a token. Give the token in the environment: other
    users of the machine see the words of a command. Ctrl-C stops it.

    With --json one line says where it listens once it is ready.
    """
    import dagster as dg  # noqa: PLC0415 - keeps --help fast

    from console.dagster_server.home import dagster_home, prepare_home  # noqa: PLC0415
    from resources.settings import Settings  # noqa: PLC0415
    from sensors.dependency_center.detectors.api.server import served  # noqa: PLC0415
    from sensors.dependency_center.host import Intake  # noqa: PLC0415
    from warehouse_assets.warehouse import load_warehouse  # noqa: PLC0415

    settings = Settings.load(os.environ)
    home = dagster_home(settings, os.environ)
    prepare_home(settings, home)
    intake = Intake(load_warehouse(settings), "center")
    with (
        stop_signals() as signals,
        dg.DagsterInstance.from_config(str(home)) as instance,
        served(intake.center, port, host=host, token=token or None) as url,
    ):
        _announce(url, as_json=as_json)
        while not signals:
            time.sleep(_TURN_SECONDS if _turn(intake, instance) else _AGAIN_SECONDS)
    intake.store.close()
    if not as_json:
        print_line("Stopped.")


def _turn(intake: Intake, instance: dg.DagsterInstance) -> bool:
    """Whether it went well; what may be tried again is said, and is."""
    from dependency_model.errors import TransientError  # noqa: PLC0415

    try:
        intake.turn(instance, _WIPED_EVERY)
    except TransientError as error:
        print_error(error)
        return False
    return True


def _announce(url: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"url": url, "pid": os.getpid()})
        return
    print_line(f"Center       {url}", "bold green")
    print_line("  report     POST /v1/reports")
    print_line("  ask        GET  /v1/slices?subject=ods_orders@2026-03-29")
    print_line("  stop       Ctrl-C")
