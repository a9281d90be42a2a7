"""Every unsuitable Java is reported with the package to install."""

import stat
from pathlib import Path

import pytest

from tidemark.spark.java import java_major, java_problem
from tidemark.system.errors import JavaMissingError


def fake_java(home: Path, script: str) -> dict[str, str]:
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\n{script}\n")
    java.chmod(java.stat().st_mode | stat.S_IXUSR)
    return {"JAVA_HOME": str(home), "PATH": "/usr/bin:/bin"}


@pytest.mark.parametrize(
    ("text", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_402"', 8),
        ('openjdk version "25" 2025-09-16', 25),
        ("no java", None),
    ],
)
def test_versions_as_they_are_printed(text: str, major: int | None) -> None:
    assert java_major(text) == major


def test_no_java_at_all(tmp_path: Path) -> None:
    problem = java_problem({"PATH": str(tmp_path)})
    assert problem is not None
    assert "does not start" in problem
    assert "openjdk-17-jre-headless" in problem


def test_an_old_java(tmp_path: Path) -> None:
    env = fake_java(tmp_path, """echo 'openjdk version "11.0.2" 2019-01-15' >&2""")
    problem = java_problem(env)
    assert problem is not None
    assert 'is openjdk version "11.0.2"' in problem
    assert "install a JDK or JRE 17" in problem


def test_a_java_that_breaks(tmp_path: Path) -> None:
    problem = java_problem(fake_java(tmp_path, "exit 3"))
    assert problem is not None
    assert "ended with status 3" in problem


def test_a_java_without_the_module_that_spark_needs(tmp_path: Path) -> None:
    script = 'case "$1" in --add-modules=*) exit 1;; esac\necho \'openjdk version "17.0.1"\' >&2'
    problem = java_problem(fake_java(tmp_path, script))
    assert problem is not None
    assert "without the module jdk.incubator.vector" in problem


def test_a_good_java_is_not_a_problem(tmp_path: Path) -> None:
    assert java_problem(fake_java(tmp_path, """echo 'openjdk version "21.0.2"' >&2""")) is None


def test_the_error_names_the_package_to_install() -> None:
    error = JavaMissingError.of("Java 17+ is needed and 'java' does not start (No such file): install a JDK")
    assert str(error).startswith("Java: Java 17+ is needed")
    assert error.hint == "install a JDK"
