"""A container may run under a number that no password file knows."""

from __future__ import annotations

import getpass
import os

import pytest

from tidemark.system.account import account_name


def test_the_name_of_the_environment_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "ann")
    assert account_name() == "ann"


@pytest.mark.parametrize("error", [KeyError, OSError])
def test_an_unknown_name_is_replaced_by_the_number(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> str:
        raise error

    monkeypatch.setattr(getpass, "getuser", unknown)
    assert account_name() == str(os.getuid())
