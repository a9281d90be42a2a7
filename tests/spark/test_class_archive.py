"""The classes that the set-up keeps are those that a session's JVM accepts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tidemark.spark.class_archive import class_archive, sharing_options
from tidemark.spark.session import java_options
from tidemark.system.settings import Settings

_ARCHIVE_OR_NO_START = """
import sys
from pathlib import Path
from tidemark.spark.session import java_options, spark_session
from tidemark.system.settings import Settings
settings = Settings.at(Path(sys.argv[1]))
options = " ".join([*java_options(settings), "-Xshare:on"])
print(spark_session(settings, {"spark.driver.extraJavaOptions": options}).sql("SELECT 40 + 2").collect()[0][0])
"""


def test_without_an_archive_a_session_starts_normally(tmp_path: Path) -> None:
    assert sharing_options(tmp_path / "classes.jsa") == ()


def test_a_path_that_the_list_of_options_would_divide_is_left_out(tmp_path: Path) -> None:
    archive = tmp_path / "my classes.jsa"
    archive.touch()
    assert sharing_options(archive) == ()


def test_another_java_has_another_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = class_archive(tmp_path)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr("shutil.which", lambda command: command)
    assert class_archive(tmp_path) != ours


def test_a_cluster_has_its_own_java(tmp_path: Path) -> None:
    options = java_options(Settings.at(tmp_path, spark_master="spark://127.0.0.1:7077"))
    assert not [option for option in options if option.startswith("-XX:SharedArchiveFile")]


@pytest.mark.long
@pytest.mark.spark
def test_the_archive_of_the_setup_is_one_that_java_takes(tmp_path: Path) -> None:
    """`-Xshare:on` ends a JVM that cannot use its archive, where a session's own goes on without."""
    if not class_archive().is_file():
        assert not os.environ.get("CI"), "the set-up wrote no archive: python -m tidemark.spark.write_class_archive"
        pytest.skip("this machine's set-up wrote no archive of classes")
    command = [sys.executable, "-c", _ARCHIVE_OR_NO_START, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout == "42\n", done.stderr
