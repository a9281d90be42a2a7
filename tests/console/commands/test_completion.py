"""Completion is written where the shell looks for it, and offers commands and entities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner

from tests.project import write_project
from tidemark.console.main import main

if TYPE_CHECKING:
    from pathlib import Path


def offered(*words: str, incomplete: str) -> set[str]:
    completions = BashComplete(main, {}, "tidemark", "_TIDEMARK_COMPLETE").get_completions(list(words), incomplete)
    return {item.value for item in completions}


@pytest.mark.parametrize(
    ("shell", "file"),
    [
        ("bash", ".local/share/bash-completion/completions/tidemark"),
        ("zsh", ".zfunc/_tidemark"),
        ("fish", ".config/fish/completions/tidemark.fish"),
    ],
)
def test_one_command_installs_it(shell: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    result = CliRunner().invoke(main, ["completion"])
    assert result.exit_code == 0, result.output
    script = (tmp_path / file).read_text()
    assert "_TIDEMARK_COMPLETE" in script
    assert CliRunner().invoke(main, ["completion", shell, "--print"]).stdout == script


def test_an_unknown_shell_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/sh")
    result = CliRunner().invoke(main, ["completion"])
    assert (result.exit_code, "name the shell: bash, zsh, fish" in result.output) == (2, True)


def test_commands_options_and_entities_are_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = write_project(tmp_path, {"ods/ods_orders.yaml": "period: day\n", "ads/ads_gmv.yaml": "period: day\n"})
    monkeypatch.setenv("TIDEMARK_ROOT", str(project))
    assert offered(incomplete="sta") == {"status"}
    assert offered("delta", incomplete="his") == {"history"}
    assert "--where" in offered("show", incomplete="--")
    assert offered("explain", incomplete="") == {"ods_orders", "ads_gmv"}
    assert offered("delta", "repair", incomplete="ads") == {"ads_gmv"}


def test_outside_of_a_project_no_entity_is_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEMARK_ROOT", str(tmp_path))
    assert offered("explain", incomplete="") == set()
