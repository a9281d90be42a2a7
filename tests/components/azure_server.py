"""A real server of Azure's Blob API, Azurite, and before it the tests' own translation of the Data Lake API."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import shutil
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import TYPE_CHECKING, Final, Literal
from urllib.request import Request, urlopen

import pytest

from tests.components.azure_dfs_api import ACCOUNT
from tests.project import CHECKOUT
from tidemark.console.servers.server_process import start_listening
from tidemark.spark.object_store.azure_jars import azure_jars_directory
from tidemark.system.azure_access import ACCOUNT_KEY
from tidemark.system.free_port import LOOPBACK, free_port
from tidemark.system.table_location import ObjectLocation, object_location

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_CONTAINER: Final = "lake"
_PROGRAM: Final = "azurite-blob"
_PACKAGE: Final = "azurite@3.37.0"
_VERSION: Final = "2021-08-06"
_START_SECONDS: Final = 60.0


def require_azure_server() -> None:
    """Skip the calling test or fixture without the server, also with CI=true: it is an emulator of one store."""
    if shutil.which(_PROGRAM) is None:
        pytest.skip(f"the server of Azure's storage is not installed ({_PROGRAM}): npm install -g {_PACKAGE}")


def require_azure() -> None:
    """Skip also without the jars by which Spark reaches it: some 6 MB."""
    require_azure_server()
    if not azure_jars_directory().is_dir():
        pytest.skip("Spark's jars are not here: python -m tidemark.spark.object_store.azure_jars")


@dataclass(frozen=True)
class AzureServer:
    """A running server with one container of one account, reached at `port` by both of the store's APIs."""

    port: int
    account: str
    key: str

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which Spark, delta-rs and the file store reach it."""
        return {"AZURE_STORAGE_ENDPOINT": f"http://{LOOPBACK}:{self.port}/{self.account}", ACCOUNT_KEY: self.key}

    def location(self, key: str) -> ObjectLocation:
        """A folder in its container."""
        uri = f"abfss://{_CONTAINER}@{self.account}.dfs.core.windows.net/{key}"
        return object_location(uri, self.environment, "the test")

    def at(self, port: int) -> AzureServer:
        """The same server by a proxy's port."""
        return AzureServer(port, self.account, self.key)

    def make_container(self) -> None:
        """Make the container. Raises OSError where the server does not."""
        date = format_datetime(datetime.now(UTC), usegmt=True)
        told = f"x-ms-date:{date}\nx-ms-version:{_VERSION}\n/{self.account}/{self.account}/{_CONTAINER}"
        signed = f"PUT{chr(10) * 12}{told}\nrestype:container"
        digest = hmac.digest(base64.b64decode(self.key), signed.encode(), hashlib.sha256)
        headers = {
            "x-ms-date": date,
            "x-ms-version": _VERSION,
            "Authorization": f"SharedKey {self.account}:{base64.b64encode(digest).decode()}",
            "Content-Length": "0",
        }
        url = f"http://{LOOPBACK}:{self.port}/{self.account}/{_CONTAINER}?restype=container"
        with urlopen(Request(url, headers=headers, method="PUT")) as answer:
            answer.read()


@contextmanager
def azure_server(directory: Path, namespace: Literal["hierarchical", "flat"] = "hierarchical") -> Iterator[AzureServer]:
    """A server whose data are in `directory`, with an account and a key of its own; skips without the program."""
    require_azure_server()
    data = directory / "azurite"
    data.mkdir(parents=True)
    port, behind, name = free_port(), free_port(), "the server of Azure's storage"
    account, key = f"account{secrets.token_hex(4)}", base64.b64encode(secrets.token_bytes(32)).decode()
    running = AzureServer(port, account, key)
    # The key by environments: all users of a machine see its processes' arguments.
    command = [_PROGRAM, "--blobHost", LOOPBACK, "--blobPort", str(behind), "--location", str(data)]
    command += ["--skipApiVersionCheck", "--silent", "--disableTelemetry"]
    api = [sys.executable, "-m", "tests.components.azure_dfs_api", str(port), str(behind), namespace]
    with ExitStack() as stack:
        accounts = {"AZURITE_ACCOUNTS": f"{account}:{key}"}
        server = start_listening(name, command, directory, behind, _START_SECONDS, accounts)
        stack.callback(server.stop)
        own = {"PYTHONPATH": str(CHECKOUT), ACCOUNT: account, ACCOUNT_KEY: key}
        before = start_listening(f"{name} by folders", api, directory / "api", port, _START_SECONDS, own)
        stack.callback(before.stop)
        running.make_container()
        yield running
