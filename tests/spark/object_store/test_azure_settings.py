"""The settings of a Spark session for a lake in Azure Data Lake Storage, which users cannot change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from tidemark.spark import session
from tidemark.spark.object_store.azure_settings import LOG_STORE
from tidemark.spark.session import spark_conf
from tidemark.system.azure_access import AzureAccess
from tidemark.system.errors import SparkConfError
from tidemark.system.settings import Settings
from tidemark.system.table_location import ObjectLocation

if TYPE_CHECKING:
    from pathlib import Path

BUCKET: Final = "lake@company.dfs.core.windows.net"
BY_TOKEN: Final = ObjectLocation(BUCKET, "warehouse", AzureAccess("company"))
EMULATOR: Final = ObjectLocation(
    BUCKET, "warehouse", AzureAccess("company", has_key=True, emulator="http://127.0.0.1:10000")
)
PREFIX: Final = "spark.hadoop.fs.azure."


@pytest.fixture(autouse=True)
def jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The jars are not fetched for this."""
    jar = tmp_path / "azure.jar"
    monkeypatch.setattr(session, "azure_jars", lambda: (jar,))
    return jar


def conf_of(lake: ObjectLocation, folder: Path) -> dict[str, str]:
    return dict(spark_conf(Settings.at(folder, warehouse=lake), folder).getAll())


def test_jars_and_log_store_are_there(jar: Path, tmp_path: Path) -> None:
    conf = conf_of(BY_TOKEN, tmp_path)
    assert conf["spark.delta.logStore.abfss.impl"] == LOG_STORE
    assert str(jar) in conf["spark.driver.extraClassPath"]
    assert not any("s3a.endpoint" in name or "logStore.s3a" in name for name in conf)


def test_microsofts_own_servers_are_asked_by_tls_alone(tmp_path: Path) -> None:
    own, emulator = conf_of(BY_TOKEN, tmp_path), conf_of(EMULATOR, tmp_path)
    assert own["spark.hadoop.fs.abfss.impl"].endswith(".SecureAzureBlobFileSystem")
    assert f"{PREFIX}abfs.endpoint" not in own
    assert f"{PREFIX}always.use.https" not in own
    assert emulator[f"{PREFIX}abfs.endpoint"] == "127.0.0.1:10000"


def test_credentials_are_read_by_our_own_classes_and_no_setting_holds_any(tmp_path: Path) -> None:
    by_token, by_key = conf_of(BY_TOKEN, tmp_path), conf_of(EMULATOR, tmp_path)
    assert by_token[f"{PREFIX}account.auth.type"] == "Custom"
    assert by_token[f"{PREFIX}account.oauth.provider.type"] == "tidemark.AzureToken"
    assert by_key[f"{PREFIX}account.auth.type"] == "SharedKey"
    assert by_key[f"{PREFIX}account.keyprovider"] == "tidemark.AzureKey"
    assert not any(name.startswith(f"{PREFIX}account.key.") for name in {**by_token, **by_key})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spark.delta.logStore.abfss.impl", "io.delta.storage.HDFSLogStore"),
        (f"{PREFIX}account.auth.type", "SAS"),
        ("spark.hadoop.fs.abfss.impl", "org.apache.hadoop.fs.azurebfs.AzureBlobFileSystem"),
    ],
)
def test_required_settings_cannot_be_changed(name: str, value: str, tmp_path: Path) -> None:
    file = tmp_path / "spark.conf"
    file.write_text(f"{name} {value}")
    with pytest.raises(SparkConfError, match=rf"{name} cannot be changed.*remove it"):
        spark_conf(Settings.at(tmp_path, warehouse=BY_TOKEN, spark_conf=str(file)), tmp_path)
