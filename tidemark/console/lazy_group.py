"""The group of commands: it imports a command's module only when it is called, so that `--help` is fast.

It also turns expected errors into messages and exit codes.
"""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import click

from tidemark.console.exit_codes import ExitCode
from tidemark.console.project_option import add_root_option
from tidemark.errors import TidemarkError, TransientError

if TYPE_CHECKING:
    from collections.abc import Sequence

_PACKAGE: Final = "tidemark.console.commands"
_JSON: Final = "console.json"
_WITHOUT_PROJECT: Final = ("init", "completion")
"""Commands that work without a project."""


@dataclass(frozen=True)
class CommandEntry:
    """A command as in `--help`; its code is `tidemark.console.commands.<name>.<name>`, with _ for -."""

    name: str
    section: str
    summary: str

    @property
    def module(self) -> str:
        return f"{_PACKAGE}.{self._word}"

    def exists(self) -> bool:
        return importlib.util.find_spec(self.module) is not None

    def load(self) -> click.Command:
        command: click.Command = getattr(importlib.import_module(self.module), self._word)
        return command if self.name in _WITHOUT_PROJECT else add_root_option(command)

    @property
    def _word(self) -> str:
        return self.name.replace("-", "_")


class LazyGroup(click.Group):
    """Commands by name, loaded one by one: a broken one does not affect the others."""

    def __init__(self, *args: Any, entries: Sequence[CommandEntry] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.entries = {entry.name: entry for entry in entries}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The names in the order of the entries."""
        return [name for name, entry in self.entries.items() if entry.exists()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's
        """Import the command's module."""
        entry = self.entries.get(cmd_name)
        return entry.load() if entry is not None and entry.exists() else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Sections and summaries from the entries, without an import."""
        present = [self.entries[name] for name in self.list_commands(ctx)]
        for section, entries in groupby(present, key=lambda entry: entry.section):
            with formatter.section(section):
                formatter.write_dl([(entry.name, entry.summary) for entry in entries])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Also note whether JSON is requested; an unknown command gets the nearest names as a hint."""
        ctx.meta[_JSON] = "--json" in args
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-") and not ctx.resilient_parsing:
            near = get_close_matches(name, self.list_commands(ctx), n=2, cutoff=0.7)
            hint = f" Did you mean {' or '.join(near)}?" if near else " `tidemark --help` lists the commands."
            ctx.fail(f"No such command {name!r}.{hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an expected error is printed, with its traceback only for --debug."""
        try:
            return super().invoke(ctx)
        except TidemarkError as error:
            if ctx.params.get("debug"):
                raise
            _print_error(error, as_json=ctx.meta.get(_JSON, False))
            ctx.exit(ExitCode.TRY_AGAIN if isinstance(error, TransientError) else ExitCode.FAILED)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(ExitCode.INTERRUPTED)


def _print_error(error: TidemarkError, *, as_json: bool) -> None:
    from tidemark.console import output  # noqa: PLC0415 - rich is only worth its load time when there is something to print

    if as_json:
        output.print_json(output.error_as_json(error))
    else:
        output.print_error(error)
