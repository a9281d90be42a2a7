"""`tidemark health`: whether a service of this machine works, for whoever starts it again if not."""

from __future__ import annotations

import http.client
import time
from typing import Final

import click

from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import json_option, print_json, print_line
from tidemark.console.service_beat import seconds_since_beat

_PATHS: Final = {"up": "/server_info", "center": "/health"}
_PORTS: Final = {"up": 3000, "center": 3080}
_SECONDS: Final = 5.0


@click.command()
@click.argument("service", type=click.Choice(["up", "center", "capture", "distribute", "workers"]))
@click.option("--port", type=click.IntRange(1, 65535), help="Where it listens on 127.0.0.1: 3000 (up), 3080 (center).")
@click.option(
    "--within",
    "within_seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=7200.0,
    show_default=True,
    metavar="SECONDS",
    help="So long ago at most the last beat of capture, distribute or workers may be.",
)
@json_option
def health(service: str, port: int | None, within_seconds: float, *, as_json: bool) -> None:
    """Say whether a SERVICE of this machine works: a probe for systemd, Kubernetes and whoever else starts it again.

    The servers (up, center) are asked over HTTP. `tidemark capture run`, `tidemark capture distribute` and
    `tidemark workers` listen nowhere: they leave a beat in the data folder whenever they get on, between two passes or
    two transactions. So --within is the longest that one of these may take. No declaration is read, and it takes a
    moment.

    \b
    Exit codes: 0 it works, 1 it does not.
    With --json: {"healthy", "service", "found"}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    if service in _PATHS:
        healthy, told = _answers(port or _PORTS[service], _PATHS[service])
    else:
        healthy, told = _beats(service, within_seconds)
    if as_json:
        print_json({"healthy": healthy, "service": service, "found": told})
    else:
        print_line(f"{service}: {told}", "" if healthy else "bold red")
    raise SystemExit(ExitCode.OK if healthy else ExitCode.FAILED)


def _answers(port: int, path: str) -> tuple[bool, str]:
    # http.client: no proxy of the environment comes between us and our own server.
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_SECONDS)
    try:
        connection.request("GET", path)
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        return False, f"does not answer on 127.0.0.1:{port} ({error or type(error).__name__})"
    finally:
        connection.close()
    return status == http.client.OK, f"answers {status} on 127.0.0.1:{port}{path}"


def _beats(service: str, within_seconds: float) -> tuple[bool, str]:
    from tidemark.system.settings import Settings  # noqa: PLC0415 - keeps --help fast

    ago = seconds_since_beat(Settings.load().data, service, time.time())
    if ago is None:
        return False, "has never beaten in this data folder: start it, with the same TIDEMARK_DATA"
    return ago <= within_seconds, f"the last beat was {ago:.0f} s ago, {within_seconds:.0f} s are let pass"
