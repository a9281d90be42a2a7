"""Jars are resolved once; what is there already is used without any process or network."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tidemark.spark import jars
from tidemark.system.errors import JarsError, JavaMissingError


def test_coordinates_follow_the_installed_packages() -> None:
    delta, kafka, _tokens = jars.coordinates()
    assert delta.startswith("io.delta:delta-spark_4.2_2.13:4.")
    assert kafka.startswith("org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.")


def test_resolved_jars_are_only_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jars, "_run_ivy", lambda *_: pytest.fail("went to the repository"))
    folder = jars.jars_directory(tmp_path)
    folder.mkdir()
    (folder / "one.jar").touch()
    assert jars.resolved_jars(tmp_path) == (folder / "one.jar",)


def test_what_spark_ships_is_left_out_and_the_folder_appears_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def resolve(ivy: Path, wanted: Sequence[str], _excluded: Sequence[str]) -> None:
        (ivy / "jars").mkdir(parents=True)
        for name in ("io.delta_delta-storage-4.4.0.jar", "com.fasterxml.jackson.core_jackson-core-2.13.5.jar"):
            (ivy / "jars" / name).write_text(wanted[0])

    monkeypatch.setattr(jars, "_run_ivy", resolve)
    monkeypatch.setattr(jars, "java_problem", lambda: None)
    assert [path.name for path in jars.resolved_jars(tmp_path)] == ["io.delta_delta-storage-4.4.0.jar"]
    assert [path.name for path in tmp_path.iterdir()] == [jars.jars_directory(tmp_path).name]


def test_a_repository_out_of_reach_leaves_nothing_and_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_ivy: Path, wanted: Sequence[str], _excluded: Sequence[str]) -> None:
        raise JarsError.unresolved(wanted, "unresolved dependency")

    monkeypatch.setattr(jars, "_run_ivy", refuse)
    monkeypatch.setattr(jars, "java_problem", lambda: None)
    with pytest.raises(JarsError, match=r"io\.delta.*unresolved dependency.*DEFAULT_ARTIFACT_REPOSITORY"):
        jars.resolved_jars(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_without_java_nothing_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jars, "java_problem", lambda: "no Java: install one")
    with pytest.raises(JavaMissingError, match="no Java - install one"):
        jars.resolved_jars(tmp_path)
