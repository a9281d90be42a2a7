"""A real S3 server, versitygw: a bucket is a folder on its disk."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tidemark.console.servers.errors import ComponentFailedError
from tidemark.console.servers.server_process import ServerProcess, accepts_connections, start
from tidemark.system.free_port import LOOPBACK, free_port
from tidemark.system.table_location import ObjectLocation, object_location

if TYPE_CHECKING:
    from collections.abc import Iterator

BUCKET: Final = "lake"
_PROGRAM: Final = "versitygw"
_MODULE: Final = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"
_START_SECONDS: Final = 60.0


def gateway_program() -> str | None:
    """The installed server, on the PATH or where Go puts programs; None without one."""
    places = [os.environ.get("GOBIN", ""), str(Path.home() / "go" / "bin")]
    return shutil.which(_PROGRAM, path=os.pathsep.join([os.environ.get("PATH", ""), *filter(None, places)]))


def require_s3_server() -> None:
    """Skip the calling test or fixture without the server; fail it with CI=true where Go could have built it."""
    if gateway_program() is None:
        reason = f"the S3 server is not installed ({_PROGRAM}): go install {_MODULE}"
        if os.environ.get("CI") == "true" and shutil.which("go"):
            pytest.fail(f"with CI=true every real server is required: {reason}", pytrace=False)
        pytest.skip(reason)


@dataclass(frozen=True)
class S3Server:
    """A running server with one bucket."""

    port: int
    folder: Path
    logs: Path
    bucket: str
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
        return object_location(f"s3://{self.bucket}/{key}", self.environment, "the test")

    def at(self, port: int) -> S3Server:
        """The same server by a proxy's port."""
        return replace(self, port=port)

    def on_disk(self, location: ObjectLocation) -> Path:
        """Where the server keeps a folder."""
        return self.folder / self.bucket / location.key

    def kill(self) -> None:
        """The server dies as by `kill -9`."""
        os.kill(self.server.pid, signal.SIGKILL)
        self.server.process.wait()

    def started_again(self) -> S3Server:
        """The server on the same port and data, after it ended."""
        return replace(self, server=_start(self.port, self.folder, self.logs, self.access_key, self.secret_key))


@contextmanager
def s3_server(directory: Path, bucket: Path | None = None, keys: tuple[str, str] | None = None) -> Iterator[S3Server]:
    """A server whose data are in `directory`, with keys of its own unless they are given; skips without the program.

    Its bucket is the folder `bucket`, which may have files in it, by default one in `directory`.
    """
    require_s3_server()
    bucket = bucket or directory / "buckets" / BUCKET
    bucket.mkdir(parents=True, exist_ok=True)
    port, (access_key, secret_key) = free_port(), keys or (f"key{secrets.token_hex(6)}", secrets.token_hex(16))
    server = _start(port, bucket.parent, directory, access_key, secret_key)
    running = S3Server(port, bucket.parent, directory, bucket.name, access_key, secret_key, server)
    try:
        yield running
    finally:
        running.server.stop()


def _start(port: int, folder: Path, logs: Path, access_key: str, secret_key: str) -> ServerProcess:
    # The keys go by the environment: a command line is for all to see.
    keys = {"ROOT_ACCESS_KEY": access_key, "ROOT_SECRET_KEY": secret_key}
    command = [str(gateway_program()), "--port", f"{LOOPBACK}:{port}", "--quiet", "posix", str(folder)]
    server = start("the S3 server", command, logs, keys)
    try:
        server.wait_until(lambda: accepts_connections(port), _START_SECONDS)
    except ComponentFailedError:
        server.stop()
        raise
    return server
