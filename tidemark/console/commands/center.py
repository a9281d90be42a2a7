"""`tidemark center`: the dependency center as a service."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import click

from tidemark.console.output import json_option, print_json, print_line
from tidemark.console.stop_signals import stop_signals
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from tidemark.system.settings import Settings

_DEFAULT_PORT: Final = 3080


@click.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=_DEFAULT_PORT,
    show_default=True,
    help="The TCP port of the HTTP interface; 0 picks a free one.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on; others need a token.")
@click.option(
    "--token", envvar="TIDEMARK_TOKEN", show_envvar=True, help="A token of at least 16 characters, for all rights."
)
@click.option(
    "--allowed-host",
    "allowed_hosts",
    multiple=True,
    envvar="TIDEMARK_ALLOWED_HOSTS",
    show_envvar=True,
    help="Another name of this server, for example of a proxy; may be repeated. Requests to unknown names are refused.",
)
@click.option(
    "--writes-per-second",
    type=click.FloatRange(min=0, min_open=True),
    envvar="TIDEMARK_WRITES_PER_SECOND",
    show_envvar=True,
    help="The most write requests of one caller in a second (default 500). A burst may have ten times as many.",
)
@click.option("--workers/--no-workers", "has_workers", default=True, help="Whether this machine executes runs.")
@json_option
def center(
    port: int,
    host: str,
    token: str | None,
    allowed_hosts: tuple[str, ...],
    writes_per_second: float | None,
    *,
    has_workers: bool,
    as_json: bool,
) -> None:
    """Run the dependency center: start ready slices, accept reports, and answer questions.

    It follows Dagster's event log, tagged snapshots and the clock, and gives each ready slice to a warm worker. Its
    HTTP interface accepts reports of other schedulers (POST /v1/reports), shows what a slice waits for (GET
    /v1/slices?subject=ods_orders@2026-03-29), and plans and approves backfills (POST /v1/backfills). /health and
    /metrics are for monitoring, /docs describes the interface. Its log is on standard error, as lines of JSON.

    If several centers use one state store, one is active. If it dies, another takes over within seconds. While a center
    runs, the readiness sensor of `tidemark up` is passive.

    With --no-workers it only launches runs; hosts with `tidemark workers` execute them.

    It listens only on this machine, unless callers have names: by `tidemark token create`, by a proxy (the setting
    `proxy`), or by the one token of TIDEMARK_TOKEN, which has all rights. Set it in the environment, because other
    users of the machine can see the options of a command. Ctrl-C stops the center and its active runs.

    With --json it prints one line with its address when it is ready.
    """
    import dagster as dg  # noqa: PLC0415 - keeps --help fast

    from tidemark.api.options import ApiOptions  # noqa: PLC0415
    from tidemark.api.request_limits import DEFAULT_WRITES_PER_SECOND  # noqa: PLC0415
    from tidemark.api.server import serve_in_thread  # noqa: PLC0415
    from tidemark.center.code_location import CodeLocation  # noqa: PLC0415
    from tidemark.center.service import Service  # noqa: PLC0415
    from tidemark.console.dagster_server.dagster_home import dagster_home, prepare_home  # noqa: PLC0415
    from tidemark.console.dagster_server.dagster_warnings import hide_notices  # noqa: PLC0415
    from tidemark.console.preflight.capture import capture  # noqa: PLC0415
    from tidemark.system.check_finding import require_no_problem  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415
    from tidemark.warm_runs.host_supervisor import supervised  # noqa: PLC0415

    settings = Settings.load(os.environ)
    options = ApiOptions(
        port,
        host,
        token or None,
        allowed_hosts,
        writes_per_second or DEFAULT_WRITES_PER_SECOND,
        settings.proxy,
        _has_tokens(settings),
    )
    home = dagster_home(settings, os.environ)
    require_no_problem(capture(settings))
    prepare_home(settings, home)
    hide_notices()
    location = CodeLocation.of_workspace(settings.root / "workspace.yaml")
    with (
        stop_signals() as signals,
        dg.DagsterInstance.from_config(str(home)) as instance,
    ):
        warehouse = load_warehouse(settings)
        service = Service(warehouse, instance, location, _tell)
        with (
            serve_in_thread(
                service.center, service.forecast, options, status=service.status, warehouse=warehouse
            ) as url,
            supervised(home, settings.data / "logs" / "workers.log", os.environ, has_workers=has_workers) as check,
        ):
            service.serve(lambda: bool(signals), watch=check, started=lambda: _announce(url, as_json=as_json))
    if not as_json:
        print_line("Stopped.")


def _has_tokens(settings: Settings) -> bool:
    """Whether a token was ever created; False if the store does not exist yet."""
    from tidemark.state_store.access_tokens import AccessTokens  # noqa: PLC0415
    from tidemark.state_store.database import Database  # noqa: PLC0415

    if not settings.state and not settings.state_db.exists():
        return False
    with closing(Database.of(settings)) as database:
        return bool(AccessTokens(database).rows())


def _tell(event: str, **values: object) -> None:
    line = {"time": datetime.now(UTC).isoformat(), "event": event, **values}
    sys.stderr.write(json_text(line) + "\n")
    sys.stderr.flush()


def _announce(url: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"url": url, "pid": os.getpid()})
        return
    print_line(f"Center       {url}", "bold green")
    print_line(f"  look       {url}/console/")
    print_line("  report     POST /v1/reports")
    print_line("  ask        GET  /v1/slices?subject=ods_orders@2026-03-29")
    print_line("             GET  /v1/catalog, /v1/catalog/ods_orders, /v1/baseline")
    print_line("  watch      GET  /health, /metrics")
    print_line("  stop       Ctrl-C")
