"""A session of Spark on an account of Azure's: one whose folders are none is refused before anything is written."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import pytest

from tests.components.azure_server import azure_server, require_azure
from tests.components.entra_server import TENANT, entra_server
from tests.project import CHECKOUT
from tidemark.storage.object_files import ObjectFiles
from tidemark.system.azure_access import ACCOUNT_KEY
from tidemark.system.free_port import LOOPBACK, free_port

if TYPE_CHECKING:
    from pathlib import Path

    from tests.components.azure_server import AzureServer

pytestmark = [pytest.mark.components, pytest.mark.long]
_START: Final = """
import sys
from pathlib import Path
from tidemark.spark.session import spark_session
from tidemark.storage import conditional_put
from tidemark.system.settings import Settings
from tidemark.system.table_location import table_location

if sys.argv[3] == "spark alone":
    conditional_put.require_conditional_put = lambda lake: None
spark_session(Settings.at(Path(sys.argv[1]), warehouse=table_location(sys.argv[2]))).stop()
"""


def started(server: AzureServer, folder: Path, how: str = "whole", **other: str) -> str:
    """What a process that starts a session says at its end; nothing when it started."""
    command = [sys.executable, "-c", _START, str(folder / "data"), str(server.location("lake")), how]
    env = {**os.environ, **server.environment, **other}
    run = subprocess.run(command, env=env, cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=600)
    return run.stderr.splitlines()[-1] if run.returncode else ""


def test_a_flat_namespace_is_refused_and_a_hierarchical_one_is_taken(
    azure: AzureServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_azure()
    assert started(azure, tmp_path) == ""
    with azure_server(tmp_path / "flat", "flat") as flat:
        said = started(flat, tmp_path)
        for name, value in flat.environment.items():
            monkeypatch.setenv(name, value)
        assert not list(ObjectFiles(flat.location("lake"))._all())
    assert "UnsafeStoreError" in said
    assert "expected a storage account with a hierarchical namespace" in said


def test_refusals_of_spark_and_delta_rs_are_the_same_error(azure: AzureServer, tmp_path: Path) -> None:
    """Where only Spark's way does not go through."""
    require_azure()
    gone = f"http://{LOOPBACK}:{free_port()}/{azure.account}"
    assert "StorageDownError" in started(azure, tmp_path, "spark alone", AZURE_STORAGE_ENDPOINT=gone)


def test_without_a_key_spark_opens_the_store_by_a_token(azure: AzureServer, tmp_path: Path) -> None:
    """The translation before the server asks nobody who they are: shown is that Spark asks for its token."""
    require_azure()
    with entra_server() as microsoft:
        no_key = {ACCOUNT_KEY: "", **microsoft.environment, "AZURE_CLIENT_SECRET": "a-secret"}
        assert started(azure, tmp_path, "spark alone", **no_key) == ""
    assert {(path, fields["client_secret"]) for path, fields in microsoft.asked} == {
        (f"/{TENANT}/oauth2/v2.0/token", "a-secret")
    }
