"""The settings of a Spark session for a lake in HDFS, which users cannot change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from tidemark.spark.session import HDFS_SETTINGS, spark_conf
from tidemark.system.errors import SparkConfError
from tidemark.system.settings import Settings
from tidemark.system.table_location import HdfsLocation

if TYPE_CHECKING:
    from pathlib import Path

LAKE: Final = HdfsLocation("127.0.0.1:8020", "warehouse")


@pytest.mark.parametrize("master", ["local[2]", "spark://cluster.example:7077"])
def test_commits_are_renames_and_other_paths_on_disk(master: str, tmp_path: Path) -> None:
    conf = dict(spark_conf(Settings.at(tmp_path, warehouse=LAKE, spark_master=master), tmp_path).getAll())
    assert conf["spark.delta.logStore.hdfs.impl"] == "io.delta.storage.HDFSLogStore"
    assert conf["spark.hadoop.fs.defaultFS"] == "file:///"
    on_disk = dict(spark_conf(Settings.at(tmp_path, spark_master=master), tmp_path).getAll())
    assert not HDFS_SETTINGS.keys() & on_disk.keys()


@pytest.mark.parametrize("name", HDFS_SETTINGS)
def test_required_settings_cannot_be_changed(name: str, tmp_path: Path) -> None:
    file = tmp_path / "spark.conf"
    file.write_text(f"{name} another")
    with pytest.raises(SparkConfError, match=rf"{name} cannot be changed.*remove it"):
        spark_conf(Settings.at(tmp_path, warehouse=LAKE, spark_conf=str(file)), tmp_path)
