"""Spark, by our classes, and delta-rs, by its library, are one user of Azure's: they ask for their tokens alike."""

from __future__ import annotations

import base64
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import ANY

import pyspark
import pytest
from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway
from py4j.protocol import Py4JJavaError

from tests.components.entra_server import TENANT, TOKEN, entra_server
from tidemark.delta.open_table import delta_rs_options
from tidemark.spark.jars import resolved_jars
from tidemark.spark.java import java_command
from tidemark.spark.object_store.azure_jars import azure_jars, azure_jars_directory
from tidemark.storage.object_files import ObjectFiles
from tidemark.system.azure_access import ACCOUNT_KEY, AzureAccess
from tidemark.system.table_location import object_location

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.components.entra_server import EntraServer

pytestmark = pytest.mark.spark
URI: Final = "abfss://lake@company.dfs.core.windows.net/warehouse"
SECRET: Final = "canary-51ab"


@pytest.fixture
def microsoft(monkeypatch: pytest.MonkeyPatch) -> Iterator[EntraServer]:
    if not azure_jars_directory().is_dir():
        pytest.skip("Spark's jars are not here: python -m tidemark.spark.object_store.azure_jars")
    monkeypatch.delenv(ACCOUNT_KEY, raising=False)
    with entra_server() as running:
        for name, value in {**running.environment, "AZURE_STORAGE_ENDPOINT": f"{running.address}/company"}.items():
            monkeypatch.setenv(name, value)
        yield running


@contextmanager
def jvm() -> Iterator[Any]:
    """A JVM of the environment as it is now, with our classes."""
    shipped = Path(pyspark.__file__).parent / "jars" / "*"
    classes = ":".join(map(str, [*azure_jars(), *resolved_jars(), shipped]))
    port, token = launch_gateway(classpath=classes, die_on_exit=True, java_path=java_command(), enable_auth=True)
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=token))
    try:
        yield gateway.jvm
    finally:
        gateway.shutdown()


def ask_by_spark() -> None:
    with jvm() as view:
        provider = view.tidemark.AzureToken()
        provider.initialize(None, "company")
        assert provider.getAccessToken() == TOKEN
        assert provider.getExpiryTime().after(view.java.util.Date())


def ask_by_delta_rs() -> None:
    """By the file store's library and by delta-rs, which has another version of the same in it."""
    location = object_location(URI, os.environ, "the test")
    assert ObjectFiles(location).read("x") == b"content"
    with pytest.raises(TableNotFoundError):
        DeltaTable(str(location), storage_options=delta_rs_options(location))


def test_access_by_a_clients_secret(microsoft: EntraServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_CLIENT_SECRET", SECRET)
    ask_by_spark()
    ask_by_delta_rs()
    by_spark, by_the_store, by_delta_rs = microsoft.asked
    assert by_spark == by_the_store == by_delta_rs
    assert by_spark[0] == f"/{TENANT}/oauth2/v2.0/token"
    assert by_spark[1]["client_secret"] == SECRET
    assert set(microsoft.used) == {f"Bearer {TOKEN}"}


def test_access_by_the_token_of_a_kubernetes_service_account(
    microsoft: EntraServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.write_text(SECRET)
    monkeypatch.setenv("AZURE_FEDERATED_TOKEN_FILE", str(file))
    ask_by_spark()
    ask_by_delta_rs()
    by_spark, by_the_store, by_delta_rs = microsoft.asked
    assert by_spark == by_the_store == by_delta_rs
    assert by_spark[1]["client_assertion"] == SECRET


def test_a_key_goes_before_a_token_for_all(microsoft: EntraServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_CLIENT_SECRET", SECRET)
    monkeypatch.setenv(ACCOUNT_KEY, base64.b64encode(b"key").decode())
    ask_by_delta_rs()
    assert object_location(URI, os.environ, "the test").access == AzureAccess("company", has_key=True, emulator=ANY)
    assert all(used.startswith("SharedKey company:") for used in microsoft.used)
    assert not microsoft.asked


def test_the_accounts_key_is_read_and_missed_by_its_variable(
    microsoft: EntraServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ACCOUNT_KEY, SECRET)
    with jvm() as view:
        assert view.tidemark.AzureKey().getStorageAccountKey("company", None) == SECRET
    monkeypatch.delenv(ACCOUNT_KEY)
    with jvm() as view, pytest.raises(Py4JJavaError, match=f"no key for company: set {ACCOUNT_KEY}"):
        view.tidemark.AzureKey().getStorageAccountKey("company", None)
    assert not microsoft.asked
