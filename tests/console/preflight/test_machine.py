"""What is said about a machine that lacks something."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import pytest

from tests.console.machines import fake_java, without_java
from tidemark.console.preflight import machine
from tidemark.spark import session
from tidemark.spark.class_archive import class_archive
from tidemark.system.check_finding import Finding, PreflightError, require_no_problem
from tidemark.system.errors import SparkStartError
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

_INSTALL = "install a JDK or JRE 17 or newer (Debian and Ubuntu: openjdk-17-jre-headless), or set JAVA_HOME to one"


def test_an_account_without_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container that runs as any number: Hadoop's login ends Spark with a Java trace."""
    assert machine.account().verdict == "ok"

    def no_entry(number: int) -> NoReturn:
        raise KeyError(f"getpwuid(): uid not found: {number}")

    monkeypatch.setattr("pwd.getpwuid", no_entry)
    monkeypatch.setattr("os.geteuid", lambda: 54321)
    finding = machine.account()
    assert (finding.verdict, finding.found) == ("problem", "the account 54321 has no entry in the password file")
    assert "echo tidemark:x:54321:0::/tmp:/bin/false >> /etc/passwd" in finding.to_do
    monkeypatch.setattr(session, "is_started", lambda: False)
    with pytest.raises(SparkStartError, match=r"account without a name.*54321"):
        session.spark_session(Settings.at(tmp_path))


def test_a_machine_without_java(tmp_path: Path) -> None:
    assert machine.java(without_java(tmp_path)) == Finding(
        "Java", "problem", "Java 17+ is needed and 'java' does not start (No such file or directory)", _INSTALL
    )


def test_a_java_that_is_too_old(tmp_path: Path) -> None:
    home = fake_java(tmp_path, "echo 'openjdk version \"11.0.2\" 2019-01-15' >&2")

    finding = machine.java({"JAVA_HOME": str(home)})

    assert (finding.verdict, finding.to_do) == ("problem", _INSTALL)
    assert finding.found == f"Java 17+ is needed, '{home}/bin/java' is openjdk version \"11.0.2\" 2019-01-15"


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    """Stands for every path that cannot be written: it fails for root too, whom permissions do not stop."""
    path = tmp_path / "data"
    path.write_text("in the way")

    assert machine.writable("Data", path, "TIDEMARK_DATA") == Finding(
        "Data",
        "problem",
        f"{path} cannot be written (File exists)",
        "free disk space, grant write access, or choose another folder with TIDEMARK_DATA",
    )
    assert path.read_text() == "in the way"


def test_a_folder_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert machine.writable("Data", tmp_path / "file" / "data", "TIDEMARK_DATA").found.endswith(
        "cannot be written (File exists)"
    )


def test_a_folder_in_which_no_file_can_be_made() -> None:
    """/proc takes no files from anybody."""
    from pathlib import Path

    if not Path("/proc/self").exists():
        pytest.skip("a system without /proc")
    assert machine.writable("Data", Path("/proc"), "TIDEMARK_DATA").verdict == "problem"


def test_a_missing_folder_is_made(tmp_path: Path) -> None:
    assert machine.writable("Data", tmp_path / "a" / "b", "TIDEMARK_DATA").verdict == "ok"
    assert list((tmp_path / "a" / "b").iterdir()) == []


@pytest.mark.parametrize(
    ("version", "verdict"), [((3, 10), "problem"), ((3, 11), "ok"), ((3, 13), "ok"), ((3, 14), "problem")]
)
def test_pythons(version: tuple[int, int], verdict: str) -> None:
    finding = machine.python(version)
    assert finding.verdict == verdict
    assert finding.found.startswith(f"Python {version[0]}.{version[1]} ")


def test_jars_that_were_never_resolved_are_a_warning_as_the_first_start_resolves_them(tmp_path: Path) -> None:
    finding = machine.jars(tmp_path)
    assert finding.verdict == "warning"
    assert finding.to_do == "run `python -m tidemark.spark.jars` (needs a Maven repository once)"


def test_an_unwritten_class_archive_is_a_warning_as_sessions_start_without_it(tmp_path: Path) -> None:
    finding = machine.class_archive(tmp_path)
    assert finding.verdict == "warning"
    assert finding.to_do == "run `python -m tidemark.spark.write_class_archive` (a minute, once)"

    class_archive(tmp_path).touch()
    assert machine.class_archive(tmp_path).verdict == "ok"


def test_little_memory_is_a_warning() -> None:
    assert machine.memory(1 << 30) == Finding(
        "Memory",
        "warning",
        "1.0 GiB available",
        "close programs (3 GiB is enough), or give Spark less memory with TIDEMARK_SPARK_MEMORY=1g",
    )
    assert machine.memory(4 << 30).verdict == "ok"


def test_disk_space_of_a_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    assert machine.disk_space(tmp_path / "not" / "yet").found.endswith(f"free in {tmp_path}")


def test_all_problems_are_named_at_once_and_warnings_do_not_stop() -> None:
    problem = Finding("Java", "problem", "none", "install it")
    require_no_problem([Finding("Memory", "warning", "little", "buy some")])

    with pytest.raises(PreflightError) as refused:
        require_no_problem([problem, Finding("Port", "problem", "taken", "free it")])

    assert str(refused.value) == ("this machine is not ready: found Java: none; Port: taken - install it; free it")
