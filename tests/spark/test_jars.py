"""Jars are resolved once; what is there already is used without any process or network."""

import hashlib
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tidemark.spark import jars
from tidemark.system.checksums import ChecksumError
from tidemark.system.errors import JarsError, JavaMissingError

STORAGE = "io.delta_delta-storage-4.4.0.jar"


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


@pytest.fixture
def resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository that has two jars, one of which Spark ships as well."""

    def resolve(ivy: Path, _wanted: Sequence[str], *_: object) -> None:
        (ivy / "jars").mkdir(parents=True)
        for name in (STORAGE, "com.fasterxml.jackson.core_jackson-core-2.13.5.jar"):
            (ivy / "jars" / name).write_text("the jar")

    monkeypatch.setattr(jars, "_run_ivy", resolve)
    monkeypatch.setattr(jars, "java_problem", lambda: None)
    monkeypatch.setattr(jars, "write_log_store_jar", lambda target, *_: target.write_text("ours"))


@pytest.mark.usefixtures("resolved")
def test_jars_of_spark_are_omitted_and_the_folder_appears_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listing = tmp_path / "jars.sha256"
    listing.write_text(f"{hashlib.sha256(b'the jar').hexdigest()}  {STORAGE}\n")
    monkeypatch.setattr(jars, "CHECKSUMS", listing)
    base = tmp_path / "base"
    assert [path.name for path in jars.resolved_jars(base)] == [STORAGE, jars.DISK_JAR]
    assert [path.name for path in base.iterdir()] == [jars.jars_directory(base).name]


@pytest.mark.usefixtures("resolved")
def test_jars_of_other_bytes_are_refused_and_nothing_remains(tmp_path: Path) -> None:
    with pytest.raises(ChecksumError, match=f"{STORAGE} has "):
        jars.resolved_jars(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_unreachable_repository_leaves_no_files_and_gives_a_hint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_ivy: Path, wanted: Sequence[str], *_: object) -> None:
        raise JarsError.unresolved(wanted, "unresolved dependency")

    monkeypatch.setattr(jars, "_run_ivy", refuse)
    monkeypatch.setattr(jars, "java_problem", lambda: None)
    with pytest.raises(JarsError, match=r"io\.delta.*unresolved dependency.*DEFAULT_ARTIFACT_REPOSITORY"):
        jars.resolved_jars(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_jar_missing_in_mavens_folder_is_fetched_without_that_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ivy, homes = tmp_path / "ivy", list[str]()

    def submit(command: Sequence[str], *, env: Mapping[str, str], **_: object) -> subprocess.CompletedProcess[str]:
        assert not ivy.exists(), "what the first attempt left is gone"
        homes.append(env.get("SPARK_SUBMIT_OPTS", ""))
        ivy.mkdir()
        return subprocess.CompletedProcess(command, int(len(homes) == 1), stderr="download failed")

    monkeypatch.setenv("SPARK_SUBMIT_OPTS", "-Dof.the.user=1")
    monkeypatch.setattr(subprocess, "run", submit)
    jars._run_ivy(ivy, ["io.delta:delta"], [])
    assert homes == ["-Dof.the.user=1", f"-Dof.the.user=1 -Duser.home={tmp_path}"]


def test_without_java_nothing_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jars, "java_problem", lambda: "no Java: install one")
    with pytest.raises(JavaMissingError, match="no Java - install one"):
        jars.resolved_jars(tmp_path)
