"""Commits to a lake on disk: one of two writers gets a version, and nothing half-written remains."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JJavaError

from tidemark.spark.internals import Jvm, hadoop_configuration

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

VERSIONS = 40


class Log:
    """Commits of one writer, straight through Delta's interface."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.java, self.conf, self.folder = Jvm(spark), hadoop_configuration(spark), folder
        self.store = self.java("tidemark.DiskLogStore")(self.conf)

    def commit(self, name: str, line: str, *, overwrite: bool = False) -> bool:
        """Whether the file was written; not where its name is taken."""
        lines = self.java("java.util.ArrayList")()
        lines.add(line)
        try:
            self.store.write(self.path(name), lines.iterator(), overwrite, self.conf)
        except Py4JJavaError as error:
            assert "FileAlreadyExistsException" in str(error.java_exception)  # noqa: PT017 - Java's, which has no type here
            return False
        return True

    def read(self, name: str) -> list[str]:
        lines: Any = self.store.read(self.path(name), self.conf)
        return [lines.next() for _ in takewhile(bool, iter(lines.hasNext, None))]

    def path(self, name: str) -> Any:
        return self.java("org.apache.hadoop.fs.Path")(f"file:{self.folder / name}")


@pytest.mark.long
def test_one_of_four_writers_gets_a_version(spark: SparkSession, tmp_path: Path) -> None:
    """Java has no lock here: what holds for threads holds for processes."""

    def write(writer: int) -> list[int]:
        log = Log(spark, tmp_path)
        return [version for version in range(VERSIONS) if log.commit(f"{version:020}.json", f"writer {writer}")]

    with ThreadPoolExecutor(4) as writers:
        won = list(writers.map(write, range(4)))
    assert sorted(version for versions in won for version in versions) == list(range(VERSIONS))
    for writer, versions in enumerate(won):
        assert all((tmp_path / f"{version:020}.json").read_text() == f"writer {writer}\n" for version in versions)
    assert len(list(tmp_path.iterdir())) == VERSIONS, "nothing else remains"


def test_checksums_of_an_older_file_do_not_hide_the_new_one(spark: SparkSession, tmp_path: Path) -> None:
    log = Log(spark, tmp_path)
    file_system = Jvm(spark)("org.apache.hadoop.fs.FileSystem").getLocal(log.conf)
    for name, overwrite in (("_last_checkpoint", True), ("00000000000000000001.json", False)):
        file_system.create(log.path(name)).close()
        assert (tmp_path / f".{name}.crc").is_file(), "Hadoop wrote checksums of the empty file"
        if not overwrite:
            (tmp_path / name).unlink()
        assert log.commit(name, "a line", overwrite=overwrite)
        assert log.read(name) == ["a line"]


def test_a_table_is_written_by_our_classes(spark: SparkSession, tmp_path: Path) -> None:
    """Spark's file system is ours, and the files have the permissions that the process's mask leaves."""
    java = Jvm(spark)
    local = java("org.apache.hadoop.fs.FileSystem").getLocal(hadoop_configuration(spark))
    assert local.getClass().getName() == "tidemark.DiskFiles"
    table = tmp_path / "table"
    spark.range(3).write.format("delta").save(str(table))
    spark.range(3).write.format("delta").mode("append").save(str(table))
    assert spark.read.format("delta").load(str(table)).count() == 6
    mask = os.umask(0)
    os.umask(mask)
    permissions = {path.stat().st_mode & 0o777 for path in table.glob("*.parquet")}
    assert permissions == {0o666 & ~mask}
    left = {path.suffix for path in (table / "_delta_log").rglob("*") if path.is_file()}
    assert left == {".json", ".crc"}, "no file under a passing name remains"
