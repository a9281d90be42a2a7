"""A missing server is a skip with a reason on a developer's machine, and a failure in CI."""

from __future__ import annotations

import pytest

from tests.components import hdfs_jars
from tests.components.availability import require
from tests.components.hdfs_server import require_hdfs
from tidemark.console.servers.required_programs import RequiredProgram, missing_programs

ABSENT = RequiredProgram("Abacus", (("no-such-abacus", "nor-this-one"),), "install the package abacus")


def test_a_missing_server_skips_and_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)

    with pytest.raises(pytest.skip.Exception, match=r"Abacus.*no-such-abacus or nor-this-one.*package abacus"):
        require(ABSENT)


def test_a_missing_server_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")

    with pytest.raises(pytest.fail.Exception, match="Abacus"):
        require(ABSENT)


def test_one_alternative_is_enough() -> None:
    assert missing_programs(RequiredProgram("Shell", (("no-such-shell", "sh"),), "install a shell")) == []


def test_without_hdfs_a_test_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    monkeypatch.setattr(hdfs_jars, "are_there", lambda: False)
    with pytest.raises(pytest.skip.Exception, match=r"python -m tests\.components\.hdfs_jars"):
        require_hdfs()
