"""The settings of a Spark session for a lake in an object store, which users cannot change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from tidemark.spark import session
from tidemark.spark.object_store.s3_settings import LOG_STORE
from tidemark.spark.session import spark_conf
from tidemark.system.errors import SparkConfError
from tidemark.system.s3_access import S3Access
from tidemark.system.settings import Settings
from tidemark.system.table_location import ObjectLocation

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.system.table_location import TableLocation

CANARY: Final = "c4nary"
LAKE: Final = ObjectLocation("lake", "warehouse", S3Access("eu-west-3", "http://127.0.0.1:7070"))
CLUSTER: Final = "spark://cluster.example:7077"


@pytest.fixture(autouse=True)
def jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The jars are not fetched for this."""
    jar = tmp_path / "s3.jar"
    monkeypatch.setattr(session, "s3_jars", lambda: (jar,))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, CANARY)
    return jar


@pytest.mark.parametrize("master", ["local[2]", CLUSTER])
def test_jars_and_log_store_are_there_and_no_credentials(master: str, jar: Path, tmp_path: Path) -> None:
    conf = dict(spark_conf(Settings.at(tmp_path, warehouse=LAKE, spark_master=master), tmp_path).getAll())
    assert conf["spark.delta.logStore.s3a.impl"] == LOG_STORE
    assert conf["spark.hadoop.fs.s3a.endpoint"] == "http://127.0.0.1:7070"
    assert str(jar) in conf["spark.driver.extraClassPath" if master != CLUSTER else "spark.jars"]
    assert CANARY not in str(conf)


def test_a_lake_on_disk_has_none_of_it(jar: Path, tmp_path: Path) -> None:
    conf = dict(spark_conf(Settings.at(tmp_path), tmp_path).getAll())
    assert "spark.delta.logStore.s3a.impl" not in conf
    assert str(jar) not in conf["spark.driver.extraClassPath"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spark.delta.logStore.s3a.impl", "io.delta.storage.S3SingleDriverLogStore"),
        ("spark.hadoop.fs.s3a.endpoint", "http://127.0.0.1:1"),
        ("spark.hadoop.fs.s3a.aws.credentials.provider", "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider"),
    ],
)
def test_required_settings_cannot_be_changed(name: str, value: str, tmp_path: Path) -> None:
    file = tmp_path / "spark.conf"
    file.write_text(f"{name} {value}")
    with pytest.raises(SparkConfError, match=rf"{name} cannot be changed.*remove it"):
        spark_conf(Settings.at(tmp_path, warehouse=LAKE, spark_conf=str(file)), tmp_path)
    assert spark_conf(Settings.at(tmp_path, spark_conf=str(file)), tmp_path).get(name) == value


@pytest.mark.parametrize("lake", [LAKE, None], ids=["s3", "disk"])
@pytest.mark.parametrize("name", ["spark.sql.streaming.checkpointFileManagerClass", "spark.delta.logStore.file.impl"])
def test_how_commits_are_written_to_a_disk_cannot_be_set_otherwise(
    name: str, lake: TableLocation | None, tmp_path: Path
) -> None:
    file = tmp_path / "spark.conf"
    file.write_text(f"{name} org.example.Own")
    with pytest.raises(SparkConfError, match=rf"{name} cannot be changed.*remove it"):
        spark_conf(Settings.at(tmp_path, warehouse=lake or tmp_path, spark_conf=str(file)), tmp_path)
