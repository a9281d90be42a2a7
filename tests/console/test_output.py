"""Plain lines are whole lines; a terminal gets a table."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

from tidemark.console.output import print_error, print_json, print_line, print_table
from tidemark.errors import TidemarkError

if TYPE_CHECKING:
    import pytest


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_without_a_terminal_lines_are_neither_wrapped_nor_coloured(capsys: pytest.CaptureFixture[str]) -> None:
    print_line("[bold] " + "long " * 100 + "end", "bold red")

    assert capsys.readouterr().out == "[bold] " + "long " * 100 + "end\n"


def test_without_a_terminal_cells_are_separated_by_tabs_below_headings(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_table(["a", "b"], [["x y", "1"], ["[z]", ""]])

    assert capsys.readouterr().out == "a\tb\nx y\t1\n[z]\n"


def test_without_rows_there_is_no_heading(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["a", "b"], [])

    assert not capsys.readouterr().out


def test_on_a_terminal_there_is_a_heading_and_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = _Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)

    print_table(["subject", "found"], [["[Java]", "none"]], ["bold red"])

    heading, row = terminal.getvalue().splitlines()
    assert "subject" in heading
    assert "[Java]" in row
    assert "\x1b[1;31m" in row


def test_json_is_one_line_and_keeps_its_letters(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"city": "Orléans 🌊", "lines": "a\nb"})

    printed = capsys.readouterr().out
    assert printed.count("\n") == 1
    assert "Orléans 🌊" in printed
    assert json.loads(printed) == {"city": "Orléans 🌊", "lines": "a\nb"}


ATTACK = "a\x1b]52;c;cm0gLXJm\x07b\x9b2Jc\rd\u202ee\x00"
SHOWN = "a\\x1b]52;c;cm0gLXJm\\x07b\\x9b2Jc\\x0dd\\u202ee\\x00"


def test_nothing_that_a_terminal_obeys_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """A table's name, a topic's record and another system's id may hold whatever somebody wrote."""
    print_line(ATTACK)
    print_table(["a", "b"], [[ATTACK, "x\ny\tz"]])
    print_error(TidemarkError(ATTACK, found=ATTACK))
    printed = capsys.readouterr()
    assert printed.out == f"{SHOWN}\na\tb\n{SHOWN}\tx\\x0ay\\x09z\n"
    assert printed.err == f"error: {SHOWN}\n  found    {SHOWN}\n"


def test_json_holds_it_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({ATTACK: ATTACK})
    printed = capsys.readouterr().out
    assert json.loads(printed) == {ATTACK: ATTACK}
    assert all(letter.isprintable() for letter in printed.rstrip("\n"))


def test_on_a_terminal_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = _Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "200")
    print_table(["a"], [[ATTACK]])
    print_line(ATTACK)
    assert [line.strip() for line in terminal.getvalue().splitlines()] == ["a", SHOWN, SHOWN]
