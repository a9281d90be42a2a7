"""A command of the chain: with our environment, and with the token only where it is given."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import pytest

from tidemark.console.cdc_demo.child_command import child

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = "import json, os; print(json.dumps(dict(os.environ)), flush=True)"


def _environment(folder: Path, given: dict[str, str]) -> dict[str, str]:
    """What a command sees that is started with these variables."""
    with child("shown", [], folder, given) as started:
        started.process.wait(60)
    environment: dict[str, str] = json.loads(started.log.read_text())
    return environment


@pytest.fixture(autouse=True)
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the place of `tidemark`: a program that prints its environment."""
    interpreter = tmp_path / "interpreter"
    interpreter.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{PROGRAM}'\n")
    interpreter.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(interpreter))


def test_the_token_is_not_inherited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEMARK_TOKEN", "canary")
    monkeypatch.setenv("TIDEMARK_SPARK_MASTER", "local[1]")
    environment = _environment(tmp_path / "log", {"TIDEMARK_DATA": "/data"})
    assert "TIDEMARK_TOKEN" not in environment
    assert (environment["TIDEMARK_DATA"], environment["TIDEMARK_SPARK_MASTER"]) == ("/data", "local[1]")
    assert environment["PATH"] == os.environ["PATH"]


def test_the_token_is_given(tmp_path: Path) -> None:
    assert _environment(tmp_path / "log", {"TIDEMARK_TOKEN": "canary"})["TIDEMARK_TOKEN"] == "canary"
