"""`tidemark health`: a health probe of one service for supervisors."""

from __future__ import annotations

import http.client
import json
import time
from typing import Any, Final

import click

from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import json_option, print_json, print_line
from tidemark.console.service_beat import seconds_since_beat
from tidemark.strict_json import json_text

_PORTS: Final = {"up": 3000, "center": 3080}
_SECONDS: Final = 5.0
_DAEMON_SECONDS: Final = 75.0
"""Dagster's daemons send a heartbeat every 30 s."""
_WITHIN_SECONDS: Final = dict.fromkeys(("workers", "replicate", "refresh"), 60.0)
_WITHIN_OTHERWISE: Final = 7200.0
_AHEAD_SECONDS: Final = 5.0
"""A heartbeat from further in the future means that the clock was changed, and not that the service works."""
_BROKEN: Final = "PythonError"
_UP: Final = """{
  instance { daemonHealth { allDaemonStatuses { daemonType required lastHeartbeatTime } } }
  workspaceOrError { __typename ... on Workspace { locationEntries { name locationOrLoadError { __typename } } } }
}"""


@click.command()
@click.argument(
    "service", type=click.Choice(["up", "center", "capture", "distribute", "workers", "replicate", "refresh"])
)
@click.option("--port", type=click.IntRange(1, 65535), help="Where it listens on 127.0.0.1: 3000 (up), 3080 (center).")
@click.option(
    "--within",
    "within_seconds",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="The largest age of the last heartbeat in seconds (default: 7200 for capture and distribute, 60 for others).",
)
@json_option
def health(service: str, port: int | None, within_seconds: float | None, *, as_json: bool) -> None:
    """Check whether a SERVICE of this machine works: for systemd, Kubernetes and other supervisors.

    Servers answer over HTTP. The center is healthy while its ticks succeed, its lease is held, and a host of workers
    can start a run. `up` is healthy while Dagster's daemons send heartbeats and its code locations are loaded.

    Other services touch a heartbeat file in the data folder. `tidemark workers` does so while its workers start and the
    state store answers; `tidemark capture run` and `tidemark capture distribute` between two passes or transactions, so
    --within is the longest duration of one; `tidemark replicate --follow` and `tidemark refresh --follow` while all
    their threads work.

    \b
    Exit codes: 0 it works, 1 it does not.
    With --json: {"healthy", "service", "found"}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    if service == "up":
        healthy, why = _up(port or _PORTS[service])
    elif service == "center":
        healthy, why = _center(port or _PORTS[service])
    else:
        healthy, why = _beats(service, within_seconds or _WITHIN_SECONDS.get(service, _WITHIN_OTHERWISE))
    if as_json:
        print_json({"healthy": healthy, "service": service, "found": why})
    else:
        print_line(f"{service}: {why}", "" if healthy else "bold red")
    raise SystemExit(ExitCode.OK if healthy else ExitCode.FAILED)


def _up(port: int) -> tuple[bool, str]:
    status, answer = _asked(port, "POST", "/graphql", {"query": _UP})
    if status != http.client.OK:
        return False, str(answer)
    silent = [
        f"{daemon['daemonType']} ({'never' if beat is None else f'{time.time() - beat:.0f} s ago'})"
        for daemon in answer["data"]["instance"]["daemonHealth"]["allDaemonStatuses"]
        if daemon["required"] and not _is_recent(beat := daemon["lastHeartbeatTime"])
    ]
    if silent:
        return False, f"answers on 127.0.0.1:{port}, but daemons of Dagster are silent: {', '.join(silent)}"
    entries = answer["data"]["workspaceOrError"].get("locationEntries", [])
    broken = [entry["name"] for entry in entries if (entry["locationOrLoadError"] or {}).get("__typename") == _BROKEN]
    if broken or not entries:
        return False, f"answers on 127.0.0.1:{port}, but code locations are not loaded: {', '.join(broken) or 'all'}"
    return True, f"answers on 127.0.0.1:{port}, and Dagster's daemons work"


def _is_recent(beat: float | None) -> bool:
    return beat is not None and -_AHEAD_SECONDS <= time.time() - beat <= _DAEMON_SECONDS


def _center(port: int) -> tuple[bool, str]:
    status, answer = _asked(port, "GET", "/health")
    if status == http.client.OK:
        return True, f"answers {status} on 127.0.0.1:{port}/health"
    return False, "; ".join(answer.get("troubles", ())) if isinstance(answer, dict) else answer


def _asked(port: int, method: str, path: str, body: object = None) -> tuple[int, Any]:
    """Status and JSON of the answer; status 0 and an error text if there is no such answer."""
    # http.client uses no proxy of the environment for our own server.
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_SECONDS)
    headers = {"Content-Type": "application/json"} if body else {}
    try:
        connection.request(method, path, json_text(body) if body else None, headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    except (OSError, http.client.HTTPException, ValueError) as error:
        return 0, f"does not answer on 127.0.0.1:{port} ({error or type(error).__name__})"
    finally:
        connection.close()


def _beats(service: str, within_seconds: float) -> tuple[bool, str]:
    from tidemark.system.settings import Settings  # noqa: PLC0415 - keeps --help fast

    ago = seconds_since_beat(Settings.load().data, service, time.time())
    if ago is None:
        return False, "has sent no heartbeat in this data folder: start it with the same TIDEMARK_DATA"
    if ago < -_AHEAD_SECONDS:
        return (
            False,
            (
                f"the last heartbeat is {-ago:.0f} s in the future: the clock was set back, or the "
                "file belongs to another service"
            ),
        )
    return ago <= within_seconds, f"the last heartbeat was {ago:.0f} s ago, expected at most {within_seconds:.0f} s"
