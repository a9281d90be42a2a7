"""A real S3 server, versitygw: a bucket is a folder on its disk. It compares and writes conditional puts in one step.

Built from the published Go module once, beside the other components.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import signal
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tests.components.availability import S3_SERVER
from tidemark.console.servers.errors import ComponentMissingError
from tidemark.console.servers.jars import COMPONENTS
from tidemark.console.servers.required_programs import missing_programs
from tidemark.console.servers.server_process import (
    LOOPBACK,
    ServerProcess,
    accepts_connections,
    free_port,
    inherited_environment,
    run,
    start,
)
from tidemark.system.table_location import ObjectLocation, object_location

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BUCKET: Final = "lake"
_MODULE: Final = "github.com/versity/versitygw/cmd/versitygw"
_VERSION: Final = "v1.8.0"
_BUILD_SECONDS: Final = 900.0
_START_SECONDS: Final = 60.0
_GO_SETTINGS: Final = ("GOPROXY", "GOSUMDB", "GOFLAGS", "GOCACHE", "GOMODCACHE", "GONOSUMDB", "GOPATH")


def gateway_program(root: Path = COMPONENTS) -> Path:
    """The server's program, built when it is not there yet. Raises ComponentMissingError without Go."""
    folder = root / f"versitygw-{_VERSION}"
    program = folder / "versitygw"
    root.mkdir(parents=True, exist_ok=True)
    with root.joinpath("versitygw.lock").open("w") as lock:
        # Test processes side by side: one builds, the others wait for it.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists():
            if missing_programs(S3_SERVER):
                raise ComponentMissingError(S3_SERVER.component, "go", S3_SERVER.install)
            asked = {name: os.environ[name] for name in _GO_SETTINGS if name in os.environ}
            # A binary without its symbol tables links in half of the time.
            command = ["go", "install", "-ldflags=-s -w", f"{_MODULE}@{_VERSION}"]
            built = {**asked, "GOBIN": str(folder), "GOTOOLCHAIN": "local"}
            run("the build of the S3 server", command, folder, _BUILD_SECONDS, built)
    return program


@dataclass(frozen=True)
class S3Server:
    """A running server with one bucket."""

    port: int
    folder: Path
    access_key: str
    secret_key: str
    server: ServerProcess

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which Spark, delta-rs and the file store reach it."""
        return {
            "AWS_ENDPOINT_URL": f"http://{LOOPBACK}:{self.port}",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": self.secret_key,
        }

    def location(self, key: str) -> ObjectLocation:
        """A folder in its bucket."""
        return object_location(f"s3://{BUCKET}/{key}", self.environment, "the test")

    def on_disk(self, location: ObjectLocation) -> Path:
        """Where the server keeps a folder."""
        return self.folder / BUCKET / location.key

    def kill(self) -> None:
        """The server dies as by `kill -9`."""
        os.kill(self.server.pid, signal.SIGKILL)
        self.server.process.wait()

    def started_again(self) -> S3Server:
        """The server on the same port and data, after it ended."""
        return replace(self, server=_start(self.port, self.folder, self.access_key, self.secret_key))


@contextmanager
def s3_server(directory: Path) -> Iterator[S3Server]:
    """A server whose data are in `directory`, with keys of its own."""
    folder = directory / "buckets"
    (folder / BUCKET).mkdir(parents=True)
    port, access_key, secret_key = free_port(), f"key{secrets.token_hex(6)}", secrets.token_hex(16)
    running = S3Server(port, folder, access_key, secret_key, _start(port, folder, access_key, secret_key))
    try:
        yield running
    finally:
        running.server.stop()


def _start(port: int, folder: Path, access_key: str, secret_key: str) -> ServerProcess:
    # The keys go by the environment: a command line is for all to see.
    keys = {"ROOT_ACCESS_KEY_ID": access_key, "ROOT_SECRET_ACCESS_KEY": secret_key}
    command = [str(gateway_program()), "--port", f"{LOOPBACK}:{port}", "--quiet", "posix", str(folder)]
    server = start("the S3 server", command, folder.parent, {**inherited_environment(os.environ), **keys})
    try:
        server.wait_until(lambda: accepts_connections(port), _START_SECONDS)
    except Exception:
        server.stop()
        raise
    return server
