"""A real server of Google Cloud Storage's API, fake-gcs-server: a bucket is a folder on its disk."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal
from urllib.request import Request, urlopen

import pytest

from tests.project import CHECKOUT
from tidemark.console.servers.server_process import start_listening
from tidemark.spark.object_store.gcs_jars import gcs_jars_directory
from tidemark.system.free_port import LOOPBACK, free_port
from tidemark.system.table_location import ObjectLocation, object_location

if TYPE_CHECKING:
    from collections.abc import Iterator

_BUCKET: Final = "lake"
_PROGRAM: Final = "fake-gcs-server"
_MODULE: Final = "github.com/fsouza/fake-gcs-server@v1.56.1"
_START_SECONDS: Final = 60.0


def _program() -> str | None:
    places = [os.environ.get("GOBIN", ""), str(Path.home() / "go" / "bin")]
    return shutil.which(_PROGRAM, path=os.pathsep.join([os.environ.get("PATH", ""), *filter(None, places)]))


def require_gcs_server() -> None:
    """Skip the calling test or fixture without the server, also with CI=true: its build takes minutes."""
    if _program() is None:
        pytest.skip(f"the server of Google Cloud Storage is not installed ({_PROGRAM}): go install {_MODULE}")


def require_gcs() -> None:
    """Skip also without the jars by which Spark reaches it: some 40 MB."""
    require_gcs_server()
    if not gcs_jars_directory().is_dir():
        pytest.skip("Spark's jars are not here: python -m tidemark.spark.object_store.gcs_jars")


@dataclass(frozen=True)
class GcsServer:
    """A running server with one bucket, reached at `port` by both of the store's APIs."""

    port: int
    folder: Path
    bucket: str

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which Spark, delta-rs and the file store reach it."""
        return {"STORAGE_EMULATOR_HOST": f"http://{LOOPBACK}:{self.port}"}

    def location(self, key: str) -> ObjectLocation:
        """A folder in its bucket."""
        return object_location(f"gs://{self.bucket}/{key}", self.environment, "the test")

    def at(self, port: int) -> GcsServer:
        """The same server by a proxy's port."""
        return replace(self, port=port)

    def send(self, path: str, content: bytes) -> None:
        """A request to the JSON API. Raises OSError where it is not taken."""
        request = Request(f"http://{LOOPBACK}:{self.port}{path}", content, {"Content-Type": "application/json"})
        with urlopen(request) as answer:  # noqa: S310 - http, as written above
            answer.read()

    def on_disk(self, location: ObjectLocation) -> Path:
        """Where the server keeps a folder."""
        return self.folder / self.bucket / location.key


@contextmanager
def gcs_server(directory: Path, backend: Literal["filesystem", "memory"] = "filesystem") -> Iterator[GcsServer]:
    """A server whose data are in `directory`; skips without the program.

    What Hadoop's connector puts for a folder is an object in memory alone, as in Google's store.
    """
    require_gcs_server()
    folder = directory / "buckets"
    (folder / _BUCKET).mkdir(parents=True)
    name, port, behind = "the server of Google Cloud Storage", free_port(), free_port()
    command = [str(_program()), "-scheme", "http", "-host", LOOPBACK, "-port", str(behind), "-log-level", "warn"]
    command += ["-backend", backend, "-filesystem-root", str(folder)]
    xml = [sys.executable, "-m", "tests.components.gcs_xml_api", str(port), str(behind)]
    with ExitStack() as stack:
        server = start_listening(name, command, directory, behind, _START_SECONDS)
        stack.callback(server.stop)
        own = {"PYTHONPATH": str(CHECKOUT)}
        before = start_listening(f"{name} by XML", xml, directory / "xml", port, _START_SECONDS, own)
        stack.callback(before.stop)
        running = GcsServer(port, folder, _BUCKET)
        if backend == "memory":
            running.send("/storage/v1/b?project=tests", b'{"name": "lake"}')
        yield running
