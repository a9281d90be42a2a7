"""The log store is compiled from the source that is in the tree, by a compiler that every Spark has."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import pytest

from tidemark.spark.jars import resolved_jars
from tidemark.spark.log_store_jar import OWN_JAR, write_log_store_jar
from tidemark.spark.object_store import azure_jars, gcs_jars, s3_jars
from tidemark.spark.object_store.s3_jars import SOURCES
from tidemark.spark.object_store.s3_settings import FILE_MANAGER, LOG_STORE

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.long
def test_the_same_source_makes_the_same_jar(tmp_path: Path) -> None:
    first, second = tmp_path / "first.jar", tmp_path / "second.jar"
    others = [jar for jar in s3_jars.s3_jars() if jar.name != OWN_JAR]
    for jar in (first, second):
        write_log_store_jar(jar, SOURCES, [*resolved_jars(), *others])
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        assert {f"{name.replace('.', '/')}.class" for name in (FILE_MANAGER, LOG_STORE)} < set(archive.namelist())


def test_each_stores_is_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """None is compiled against another one's jars, and another connector is another folder."""

    def folders() -> set[Path]:
        kinds = (s3_jars.s3_jars_directory, gcs_jars.gcs_jars_directory, azure_jars.azure_jars_directory)
        return {directory(tmp_path) for directory in kinds}

    before = folders()
    assert len(before) == 3
    monkeypatch.setattr(gcs_jars, "CONNECTOR", f"{gcs_jars.CONNECTOR}1")
    monkeypatch.setattr(azure_jars, "FILE_SYSTEM", f"{azure_jars.FILE_SYSTEM}1")
    assert len(before | folders()) == 5


def test_another_source_or_another_version_is_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = s3_jars.s3_jars_directory(tmp_path)
    source = tmp_path / "Other.java"
    source.write_text(SOURCES[-1].read_text() + "// changed")
    with monkeypatch.context() as patch:
        patch.setattr(s3_jars, "SOURCES", (*SOURCES[:-1], source))
        assert s3_jars.s3_jars_directory(tmp_path) != before
    with monkeypatch.context() as patch:
        patch.setattr(s3_jars, "_SDK", "2.35.5")
        assert s3_jars.s3_jars_directory(tmp_path) != before
    assert s3_jars.s3_jars_directory(tmp_path) == before
