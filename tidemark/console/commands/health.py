"""`tidemark health`: whether a service of this machine works, for whoever starts it again if not."""

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
"""Dagster's daemons beat every 30 s."""
_WITHIN_SECONDS: Final = dict.fromkeys(("workers", "replicate", "refresh"), 60.0)
_WITHIN_OTHERWISE: Final = 7200.0
_AHEAD_SECONDS: Final = 5.0
"""A beat from further in the future says that a clock was set, not that the service works."""
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
    help="How old the last beat may be: 7200 for capture and distribute, 60 for others unless given.",
)
@json_option
def health(service: str, port: int | None, within_seconds: float | None, *, as_json: bool) -> None:
    """Say whether a SERVICE of this machine works: a probe for systemd, Kubernetes and other supervisors.

    The servers answer over HTTP. The center works while its ticks succeed, its lease is held by somebody and a host of
    workers can start a run; `up` while Dagster's daemons beat and its code locations are loaded.

    The other services listen nowhere and leave a beat in the data folder. `tidemark workers` beats while its workers
    start and the state store answers. `tidemark capture run` and `tidemark capture distribute` beat between two passes
    or two transactions: --within is the longest that one of these may take. `tidemark replicate --follow` and
    `tidemark refresh --follow` beat while each of their threads goes on.

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
    return True, f"answers on 127.0.0.1:{port}, and the daemons of Dagster beat"


def _is_recent(beat: float | None) -> bool:
    return beat is not None and -_AHEAD_SECONDS <= time.time() - beat <= _DAEMON_SECONDS


def _center(port: int) -> tuple[bool, str]:
    status, answer = _asked(port, "GET", "/health")
    if status == http.client.OK:
        return True, f"answers {status} on 127.0.0.1:{port}/health"
    return False, "; ".join(answer.get("troubles", ())) if isinstance(answer, dict) else answer


def _asked(port: int, method: str, path: str, body: object = None) -> tuple[int, Any]:
    """The status and the answer as JSON; status 0 and a sentence where there is no such answer."""
    # http.client: no proxy of the environment comes between us and our own server.
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
        return False, "has never beaten in this data folder: start it, with the same TIDEMARK_DATA"
    if ago < -_AHEAD_SECONDS:
        return False, f"the last beat is {-ago:.0f} s in the future: the clock was set back, or the file is not ours"
    return ago <= within_seconds, f"the last beat was {ago:.0f} s ago, at most {within_seconds:.0f} s are right"
