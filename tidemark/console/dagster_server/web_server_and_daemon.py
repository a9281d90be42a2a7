"""Dagster's web server behind its guards, and its daemon, with one shared code server.

`DagsterServer` starts this process in a new session. SIGINT ends both services in order; if one ends, the other is
ended too. It replaces `dagster dev`, which starts an unguarded web server.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import dagster as dg
import yaml

from tidemark.console.dagster_server.server_arguments import server_arguments
from tidemark.dagster_internals.serving import DAEMON_MODULE, DEVELOPMENT, code_servers
from tidemark.system.files import keep_files_private
from tidemark.system.token_variable import TOKEN_VARIABLE, without_token

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

_POLL_SECONDS: Final = 0.5
_STOP_SECONDS: Final = 60.0


def main() -> int:
    """Serve until SIGINT; returns 1 if a service ends by itself."""
    keep_files_private()
    options = server_arguments(__doc__)
    token = os.environ.pop(TOKEN_VARIABLE, None)
    os.environ.update(DEVELOPMENT)
    try:
        with (
            dg.DagsterInstance.get() as instance,
            code_servers(instance, options.workspace) as locations,
            _write_workspace(locations) as workspace,
            _services(workspace, options, token) as services,
        ):
            return watch(services)
    except KeyboardInterrupt:
        return 0


@contextmanager
def _write_workspace(locations: Mapping[str, object]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
        workspace = Path(folder) / "workspace.yaml"
        workspace.write_text(yaml.safe_dump(locations))
        yield workspace


@contextmanager
def _services(
    workspace: Path, options: argparse.Namespace, token: str | None
) -> Iterator[Sequence[subprocess.Popen[bytes]]]:
    """Start both services; at the end send SIGINT to each, and SIGKILL to a slow one."""
    web = ["tidemark.console.dagster_server.web_server", "--host", options.host, "--port", str(options.port)]
    web += [word for name in options.allowed_hosts for word in ("--allowed-host", name)]
    secret = {TOKEN_VARIABLE: token} if token else {}
    services: list[subprocess.Popen[bytes]] = []
    try:
        services.append(_start([*web, "--workspace", str(workspace)], secret))
        services.append(_start([DAEMON_MODULE, "run", "--workspace", str(workspace)], {}))
        yield services
    finally:
        stop(services)


def _start(module: Sequence[str], secret: Mapping[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", *module], env={**without_token(os.environ), **secret})


def stop(services: Sequence[subprocess.Popen[bytes]]) -> None:
    """Send SIGINT to each, then SIGKILL to slow ones; returns when all have ended."""
    for service in services:
        if service.poll() is None:
            service.send_signal(signal.SIGINT)
    for service in services:
        try:
            service.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            service.kill()
            service.wait()


def watch(services: Sequence[subprocess.Popen[bytes]]) -> int:
    """Return 1 when one of them has ended."""
    while True:
        for service in services:
            status = service.poll()
            if status is not None:
                sys.stderr.write(f"{' '.join(map(str, service.args[1:4]))} ended by itself with status {status}\n")  # type: ignore[index]
                return 1
        time.sleep(_POLL_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
