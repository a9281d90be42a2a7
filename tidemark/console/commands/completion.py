"""`tidemark completion`: tab completion for commands, options and entities."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import click
from click.shell_completion import ShellComplete, get_completion_class

from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import print_line

_PROGRAM: Final = "tidemark"
_VARIABLE: Final = "_TIDEMARK_COMPLETE"
_PLACES: Final = {
    "bash": Path(".local/share/bash-completion/completions/tidemark"),
    "zsh": Path(".zfunc/_tidemark"),
    "fish": Path(".config/fish/completions/tidemark.fish"),
}
"""Folders below the home folder that each shell reads; zsh only if its `fpath` has the folder."""
_AFTERWARDS: Final = {
    "bash": "open a new shell; it needs the package bash-completion",
    "zsh": "add `fpath+=~/.zfunc; autoload -Uz compinit; compinit` to ~/.zshrc and open a new shell",
    "fish": "open a new shell",
}


@click.command()
@click.argument("shell", type=click.Choice(list(_PLACES)), required=False)
@click.option("--print", "only_print", is_flag=True, help="Only print the script.")
@click.pass_context
def completion(context: click.Context, shell: str | None, *, only_print: bool) -> None:
    """Install tab completion of commands, options and entities for a SHELL.

    The default is the shell of $SHELL.

    \b
    Exit codes: 0 written or printed, 2 wrong usage.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    chosen = shell or Path(os.environ.get("SHELL", "")).name
    if chosen not in _PLACES:
        raise click.UsageError(f"name the shell: {', '.join(_PLACES)}")
    script = script_for(chosen, context.find_root().command)
    if only_print:
        click.echo(script)
    else:
        path = Path.home() / _PLACES[chosen]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script + "\n", encoding="utf-8")
        print_line(f"wrote {path}: {_AFTERWARDS[chosen]}")
    raise SystemExit(ExitCode.OK)


def script_for(shell: str, command: click.Command) -> str:
    """Click's own script, which asks the command for completions; without its check of the shell's version."""
    made = get_completion_class(shell)
    if made is None:
        raise click.UsageError(f"no completion for {shell}")
    return ShellComplete.source(made(command, {}, _PROGRAM, _VARIABLE))
