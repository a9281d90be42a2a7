"""Versions opened once: the same frame for the same version, the oldest forgotten, never another version's rows."""

import pytest
from pyspark.sql import SparkSession

from tidemark.delta import version_reader as versions
from tidemark.delta.version_reader import VersionReader
from tidemark.system.table_location import TableLocation

pytestmark = pytest.mark.spark


def test_a_version_keeps_its_rows_whatever_is_written_later(
    spark: SparkSession, lake: TableLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = lake
    for count in (1, 2, 3):
        spark.range(count).write.format("delta").mode("overwrite").save(str(path))
    monkeypatch.setattr(versions, "_KEPT", 2)
    reader = VersionReader(spark)
    first = reader.read(path, 0)
    assert [reader.read(path, version).count() for version in (0, 1, 0)] == [1, 2, 1]
    assert reader.read(path, 0) is first
    assert reader.read(path, 2).count() == 3
    assert reader.read(path, 0) is first, "the one not asked for longest goes"
    assert reader.read(path, 1).count() == 2
