"""Output of commands: rich on a terminal, plain lines elsewhere, or one JSON object.

Plain lines are never wrapped, cut or coloured, so grep and awk work. Control characters are shown and not sent to a
terminal, because names and values come from databases, topics and other systems (CWE-150).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final, TextIO

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tidemark.errors import TidemarkError, TransientError
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Command = Callable[..., Any]

_OBEYED: Final = (*range(0x20), *range(0x7F, 0xA0), 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
"""Control characters, line separators, and characters that change the direction of text."""
_SHOWN: Final = {code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" for code in _OBEYED}
_SHOWN_IN_LINES: Final = {code: text for code, text in _SHOWN.items() if chr(code) not in "\n\t"}
_SHOWN_IN_JSON: Final = {code: f"\\u{code:04x}" for code in _OBEYED}


def json_option(command: Command) -> Command:
    """The `--json` flag, the same in every command, as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print nothing but one JSON object at the end.")(
        command
    )


def console_for(stream: TextIO) -> Console:
    """A rich console; it colours, wraps and draws only if `stream` is a terminal."""
    return Console(file=stream, highlight=False, markup=False, soft_wrap=not stream.isatty())


def plural(count: int, noun: str) -> str:
    """`1 slice`, `1,200 slices`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def print_line(text: str = "", style: str | None = None) -> None:
    """One line for people."""
    console_for(sys.stdout).print(text.translate(_SHOWN_IN_LINES), style=style)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], styles: Sequence[str] | None = None) -> None:
    """Print rows under headings: a table on a terminal, else cells separated by tabs. `styles` has one for each row.

    Prints nothing without rows.
    """
    console = console_for(sys.stdout)
    if not rows:
        return
    if not console.is_terminal:
        for row in (columns, *rows):
            click.echo("\t".join(cell.translate(_SHOWN) for cell in row).rstrip())
        return
    table = Table(*columns, box=None, pad_edge=False, header_style="bold")
    for at, row in enumerate(rows):
        table.add_row(*(Text(cell.translate(_SHOWN)) for cell in row), style=styles[at] if styles else None)
    console.print(table)


def print_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object on one line of standard output."""
    click.echo(json_text(value, ensure_ascii=False, default=str).translate(_SHOWN_IN_JSON))


def print_error(error: TidemarkError) -> None:
    """Print an expected error on standard error: what happened, where, what to do, and its code."""
    console = console_for(sys.stderr)
    console.print(Text.assemble(("error: ", "bold red"), error.message.translate(_SHOWN_IN_LINES)))
    for name, value in _details(error):
        console.print(Text.assemble((f"  {name:9}", "dim"), value.translate(_SHOWN_IN_LINES)))


def error_as_json(error: TidemarkError) -> dict[str, Any]:
    """The error as JSON; `transient` means that the same call may succeed later."""
    return {
        "error": {
            "code": error.code or None,
            "kind": type(error).__name__,
            "message": error.message,
            "transient": isinstance(error, TransientError),
            "where": error.where,
            "expected": error.expected,
            "found": error.found,
            "hint": error.hint,
        }
    }


def _details(error: TidemarkError) -> list[tuple[str, str]]:
    details = (
        ("where", error.where),
        ("expected", error.expected),
        ("found", error.found),
        ("to do", error.hint),
        ("code", error.code),
    )
    return [(name, value) for name, value in details if value]
