"""The settings of a Spark session for a lake in Google Cloud Storage, which users cannot change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from tidemark.spark import session
from tidemark.spark.object_store.gcs_settings import LOG_STORE
from tidemark.spark.session import spark_conf
from tidemark.system.errors import SparkConfError
from tidemark.system.gcs_access import GcsAccess
from tidemark.system.settings import Settings
from tidemark.system.table_location import ObjectLocation

if TYPE_CHECKING:
    from pathlib import Path

GOOGLE: Final = ObjectLocation("lake", "warehouse", GcsAccess())
EMULATOR: Final = ObjectLocation("lake", "warehouse", GcsAccess("http://127.0.0.1:4443"))


@pytest.fixture(autouse=True)
def jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The jars are not fetched for this."""
    jar = tmp_path / "gcs.jar"
    monkeypatch.setattr(session, "gcs_jars", lambda: (jar,))
    return jar


def conf_of(lake: ObjectLocation, folder: Path) -> dict[str, str]:
    return dict(spark_conf(Settings.at(folder, warehouse=lake), folder).getAll())


def test_jars_and_log_store_are_there(jar: Path, tmp_path: Path) -> None:
    conf = conf_of(GOOGLE, tmp_path)
    assert conf["spark.delta.logStore.gs.impl"] == LOG_STORE
    assert str(jar) in conf["spark.driver.extraClassPath"]
    assert not any("s3a.endpoint" in name or "logStore.s3a" in name for name in conf)


def test_only_an_emulator_is_asked_without_credentials(tmp_path: Path) -> None:
    names = ("storage.root.url", "auth.null.enable", "auth.service.account.enable")
    asked = [
        [conf_of(lake, tmp_path).get(f"spark.hadoop.fs.gs.{name}") for name in names] for lake in (GOOGLE, EMULATOR)
    ]
    assert asked == [[None, "false", "true"], ["http://127.0.0.1:4443/", "true", "false"]]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spark.delta.logStore.gs.impl", "io.delta.storage.HDFSLogStore"),
        ("spark.hadoop.fs.gs.auth.null.enable", "true"),
        ("spark.hadoop.fs.gs.impl", "org.apache.hadoop.fs.gs.GoogleHadoopFileSystem"),
    ],
)
def test_required_settings_cannot_be_changed(name: str, value: str, tmp_path: Path) -> None:
    file = tmp_path / "spark.conf"
    file.write_text(f"{name} {value}")
    with pytest.raises(SparkConfError, match=rf"{name} cannot be changed.*remove it"):
        spark_conf(Settings.at(tmp_path, warehouse=GOOGLE, spark_conf=str(file)), tmp_path)
