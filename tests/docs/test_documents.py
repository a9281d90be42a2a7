"""What README and docs/ tell people to type is there: commands, options, targets and modules; the cheap ones run."""

from __future__ import annotations

import ast
import importlib.util
import re
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner

from tests.docs.written_commands import ROOT, WrittenCommand, python_blocks, written_commands
from tests.project import write_project
from tidemark.console.main import main

if TYPE_CHECKING:
    from pathlib import Path

WRITTEN = written_commands()
OF_TIDEMARK = [command for command in WRITTEN if command.words[0] == "tidemark"]
PLACEHOLDERS = {"N": "3000", "OFFSET": "7", "FILE": "query.sql", "ENTITY.COLUMN": "ads_gmv_course.gmv"}
CHEAP = ("check", "graph", "status", "lineage", "explain", "capture status", "capture check", "dlq list", "init")
"""They read declarations and the state; on a project without data they answer at once."""
QUERY = "SELECT city, count(*) AS buyers FROM ods_users WHERE dt = :biz_date GROUP BY city\n"


def resolved(words: tuple[str, ...]) -> tuple[click.Command, list[str], list[str]]:
    """The command, the words that name it, and those that are its arguments."""
    command: click.Command = main
    named, rest = list[str](), list(words[1:])
    while isinstance(command, click.Group) and rest:
        inner = command.get_command(click.Context(command), rest[0])
        assert inner is not None, f"no such command: {rest[0]}"
        command = inner
        named.append(rest.pop(0))
    return command, named, rest


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with a query in it, outside of any project but with this one's declarations to ask for."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TIDEMARK_ROOT", str(ROOT))
    monkeypatch.setenv("TIDEMARK_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "home"))
    for name in ("query.sql", "city_buyers.sql"):
        (tmp_path / name).write_text(QUERY)
    return tmp_path


def test_there_is_something_to_look_at() -> None:
    assert len(OF_TIDEMARK) > 30
    assert sum(command.is_whole for command in OF_TIDEMARK) >= 3


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("written", OF_TIDEMARK, ids=str)
def test_a_command_is_read_as_written(written: WrittenCommand) -> None:
    command, named, arguments = resolved(written.words)
    if arguments or written.is_whole:
        typed = [PLACEHOLDERS.get(word, word) for word in arguments]
        is_mention = not written.is_whole and all(word.startswith("-") for word in arguments)
        with command.make_context(" ".join(named), typed, resilient_parsing=is_mention) as context:
            assert context.command is command


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", CHEAP)
def test_a_cheap_command_runs(name: str) -> None:
    arguments = {
        "lineage": ["ads_gmv_course.gmv"],
        "explain": ["ads_gmv_course", "2026-03-29"],
        "init": ["my_warehouse", "--empty"],
    }.get(name, [])
    result = CliRunner().invoke(main, [*name.split(), *arguments])
    assert result.exit_code == (1 if name == "status" else 0), result.output
    assert result.stdout


def test_options_that_the_readme_names_are_options_of_their_command() -> None:
    rows = re.findall(r"^\| `(tidemark [^`]+)` \| (.*) \|$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert len(rows) > 10
    for words, text in rows:
        command, _, _ = resolved(tuple(words.split()))
        known = {option for parameter in command.params for option in parameter.opts}
        assert set(re.findall(r"`(--[a-z-]+)", text)) <= known, words


@pytest.mark.parametrize("written", [command for command in WRITTEN if command.words[0] == "make"], ids=str)
def test_a_target_of_make_is_there(written: WrittenCommand) -> None:
    assert re.search(rf"^{written.words[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize("written", [command for command in WRITTEN if command.words[0] == "python"], ids=str)
def test_a_module_is_there(written: WrittenCommand) -> None:
    assert importlib.util.find_spec(written.words[2]) is not None


@pytest.mark.parametrize(("page", "block"), list(python_blocks()))
def test_imports_of_python_blocks_exist(page: str, block: str) -> None:
    imports = [node for node in ast.walk(ast.parse(block)) if isinstance(node, ast.ImportFrom)]
    for node in imports:
        module = importlib.import_module(str(node.module))
        assert all(hasattr(module, alias.name) for alias in node.names), page


def test_a_project_of_ones_own_is_looked_at_by_its_root(tmp_path: Path) -> None:
    """`--root` is told of in every page; it goes with every command."""
    project = write_project(tmp_path, {"ods/ods_users.yaml": "kind: Virtual\nperiod: day\n"})
    assert CliRunner().invoke(main, ["check", "--root", str(project)]).exit_code == 0
