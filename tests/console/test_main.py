"""The group of commands: what it lists and loads, and how errors reach the caller."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner

from tests.console.commands.slices_there import report
from tests.project import CHECKOUT
from tidemark.console.exit_codes import ExitCode
from tidemark.console.lazy_group import CommandEntry, LazyGroup
from tidemark.console.main import COMMANDS, main
from tidemark.errors import TerminalError, TransientError
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

_PRESENT = [entry for entry in COMMANDS if entry.exists()]


class _BusyError(TransientError):
    pass


class _WrongError(TerminalError):
    pass


_WRONG = _WrongError(
    "the [tide] is out", expected="water", found="x" * 300, where="harbour.yaml:3", hint="wait six hours"
)


def test_help_teaches_where_to_begin() -> None:
    shown = CliRunner().invoke(main, ["--help"])

    assert shown.exit_code == 0
    for taught in ("tidemark doctor", "tidemark demo", "tidemark up", "TIDEMARK_DATA", "Exit codes"):
        assert taught in shown.output


@pytest.mark.parametrize("entry", _PRESENT, ids=lambda entry: entry.name)
def test_every_command_loads_and_has_help_with_text(entry: CommandEntry) -> None:
    shown = CliRunner().invoke(main, [entry.name, "--help"])

    assert shown.exit_code == 0
    assert entry.load().help
    assert entry.name in shown.output


def test_help_loads_nothing_heavy() -> None:
    probe = (
        "import sys; from click.testing import CliRunner; from tidemark.console.main import main; "
        "assert CliRunner().invoke(main, ['--help']).exit_code == 0; "
        "print(sorted({'dagster', 'pyspark', 'duckdb', 'rich', 'pydantic', 'sqlalchemy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"


@pytest.mark.slow
def test_commands_on_an_unchanged_project_load_neither_spark_nor_arrow_nor_dagster(tmp_path: Path) -> None:
    """What takes seconds to load, and a parser of SQL: the queries were analysed before."""
    probe = (
        "import sys; from click.testing import CliRunner; from tidemark.console.main import main\n"
        "for words in (['status'], ['check'], ['explain', 'dws_course_orders_1d', '2026-03-29']):\n"
        "    done = CliRunner().invoke(main, words); assert done.exit_code in (0, 1), done.output\n"
        "print(sorted({'dagster', 'pyspark', 'pyarrow', 'numpy', 'sqlglot', 'duckdb'} & set(sys.modules)))"
    )
    report(Settings.at(tmp_path))
    environment = {**os.environ, "TIDEMARK_ROOT": str(CHECKOUT), "TIDEMARK_DATA": str(tmp_path)}
    command = [sys.executable, "-c", probe]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, env=environment)
    assert done.stdout == "[]\n"


def test_an_unknown_command_is_a_wrong_call() -> None:
    called = CliRunner().invoke(main, ["tsunami"])

    assert called.exit_code == ExitCode.USAGE
    assert "No such command 'tsunami'" in called.output


def test_a_mistyped_command_gets_the_nearest_names() -> None:
    called = CliRunner().invoke(main, ["statu"])

    assert called.exit_code == ExitCode.USAGE
    assert "Did you mean status?" in called.output


def test_help_shows_each_section_once() -> None:
    shown = CliRunner().invoke(main, ["--help"]).output

    for section in {entry.section for entry in COMMANDS}:
        assert shown.count(f"\n{section}:\n") == 1


def test_a_missing_module_is_not_listed_and_a_broken_one_takes_no_other_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tidemark.console.commands

    (tmp_path / "broken_one.py").write_text("import no_such_module_anywhere\n")
    (tmp_path / "sound_one.py").write_text(
        "import click\n@click.command()\ndef sound_one():\n    click.echo('sound')\n"
    )
    monkeypatch.setattr(tidemark.console.commands, "__path__", [*tidemark.console.commands.__path__, str(tmp_path)])
    group = LazyGroup(
        "tidemark", entries=[CommandEntry(name, "Any", name) for name in ("missing_one", "broken_one", "sound_one")]
    )

    shown = CliRunner().invoke(group, ["--help"])
    assert "missing_one" not in shown.output
    assert "broken_one" in shown.output
    assert CliRunner().invoke(group, ["sound_one"]).output == "sound\n"
    assert isinstance(CliRunner().invoke(group, ["broken_one"]).exception, ModuleNotFoundError)


def _ignore(*, debug: bool) -> None:
    """Stand in for `main`."""


def _group_that_raises(error: BaseException) -> click.Group:
    class Group(LazyGroup):
        def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command:
            def fail(*, as_json: bool) -> None:
                raise error

            return click.Command(cmd_name, callback=fail, params=[click.Option(["--json", "as_json"], is_flag=True)])

    return Group("tidemark", params=[click.Option(["--debug"], is_flag=True)], callback=_ignore)


def test_an_error_is_said_in_whole_lines_without_a_traceback() -> None:
    failed = CliRunner().invoke(_group_that_raises(_WRONG), ["anything"])

    assert failed.exit_code == ExitCode.FAILED
    assert failed.stdout == ""
    assert failed.stderr == (
        "error: the [tide] is out\n"
        "  where    harbour.yaml:3\n"
        "  expected water\n"
        f"  found    {'x' * 300}\n"
        "  to do    wait six hours\n"
        "  code     TM0002\n"
    )


def test_an_error_for_a_program_is_one_json_object() -> None:
    failed = CliRunner().invoke(_group_that_raises(_WRONG), ["anything", "--json"])

    assert failed.exit_code == ExitCode.FAILED
    assert failed.stderr == ""
    assert json.loads(failed.stdout) == {
        "error": {
            "code": "TM0002",
            "kind": "_WrongError",
            "message": "the [tide] is out",
            "transient": False,
            "where": "harbour.yaml:3",
            "expected": "water",
            "found": "x" * 300,
            "hint": "wait six hours",
        }
    }


def test_a_transient_error_has_a_separate_exit_code() -> None:
    failed = CliRunner().invoke(_group_that_raises(_BusyError("busy")), ["anything", "--json"])

    assert failed.exit_code == ExitCode.TRY_AGAIN
    assert json.loads(failed.stdout)["error"]["transient"] is True


def test_debug_shows_the_traceback() -> None:
    failed = CliRunner().invoke(_group_that_raises(_WRONG), ["--debug", "anything"])

    assert failed.exception is _WRONG


def test_ctrl_c_is_not_an_error() -> None:
    stopped = CliRunner().invoke(_group_that_raises(KeyboardInterrupt()), ["anything"])

    assert (stopped.exit_code, stopped.stderr) == (ExitCode.INTERRUPTED, "interrupted\n")
