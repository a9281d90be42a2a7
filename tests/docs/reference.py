"""The pages docs/reference/*.md, made from the models, the settings and the command line.

`python -m tests.docs.reference` writes them anew.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from tests.docs.declared_keys import OFFSETS, PARAMETERS, SECTIONS
from tests.docs.error_messages import error_classes, messages
from tests.docs.setting_words import SETTINGS
from tidemark.console.main import main
from tidemark.error_codes import CODES, GROUPS
from tidemark.system.settings import ENV_PREFIX, Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER: Final = Path(__file__).resolve().parents[2] / "docs" / "reference"
_MADE: Final = "<!-- Made by `python -m tests.docs.reference`: change the code, not this page. -->"
_WIDTH: Final = 100


def pages() -> dict[str, str]:
    """Every page by its file's name."""
    return {"yaml.md": yaml_page(), "cli.md": cli_page(), "settings.md": settings_page(), "errors.md": errors_page()}


def yaml_page() -> str:
    """The keys of declarations, offsets, and the parameters of a query."""
    lines = ["# Declarations: every key of the YAML", "", _MADE, ""]
    for section in SECTIONS:
        lines += [f"## {section.title}", "", section.intro, ""]
        for name, key in section.keys.items():
            lines += [f"`{name}`: {key.meaning}", "", "```yaml", key.example, "```", ""]
    lines += [
        "## Offsets",
        "",
        "An offset counts in the upstream's periods, from the first upstream slice in the window of the",
        "slice that reads it.",
        "",
    ]
    lines += ["| offset | reads |", "| --- | --- |", *(f"| `{text}` | {meaning} |" for text, meaning in OFFSETS), ""]
    lines += ["## Parameters of a query", "", "| parameter | in entities of | is |", "| --- | --- | --- |"]
    lines += [f"| `:{name}` | {periods} | {meaning} |" for name, periods, meaning in PARAMETERS]
    return "\n".join(lines) + "\n"


def errors_page() -> str:
    """Every error code with its meaning, the messages of this kind, and what each says to do."""
    lines = ["# Errors", "", _MADE, ""]
    lines += [
        "Each error of a command, and of the HTTP interface, ends with a code. The code is the same in all versions.",
        "In a message, `…` stands for a name or value.",
        "",
    ]
    classes, written = error_classes(), messages()
    for group, title in GROUPS.items():
        lines += [f"## {group}: {title}", ""]
        for name, code in CODES.items():
            if code.startswith(group):
                lines += [f"### {code}", "", f"`{name}`: {classes[name]}", ""]
                lines += [_message(message, hint) for message, hint in written[name]]
                lines += [""] * bool(written[name])
    return "\n".join(lines)


def _message(message: str, hint: str) -> str:
    end = "." * (not message.endswith((".", "?", ":", "…")))
    return f"- {_as_text(message)}{end}" + (f" *To do: {_as_text(hint)}.*" if hint else "")


def _as_text(words: str) -> str:
    """The words without meaning for Markdown."""
    return re.sub(r"([*_<`\\\\])", r"\\\1", words)


def settings_page() -> str:
    """The settings of tidemark.yaml and their variables."""
    lines = ["# Settings", "", _MADE, ""]
    lines += [
        "Write a setting in `tidemark.yaml` or as a variable. The variable wins. Set passwords only as variables.",
        "",
    ]
    lines += ["| in `tidemark.yaml` | variable | default | |", "| --- | --- | --- | --- |"]
    for name, field in Settings.model_fields.items():
        default, meaning = SETTINGS[name]
        shown = default or f"`{_plain(field.default)}`"
        in_file = "" if name == "root" else f"`{name}`"
        lines.append(f"| {in_file} | `{ENV_PREFIX}{name.upper()}` | {shown} | {meaning} |")
    return "\n".join(lines) + "\n"


def _plain(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def cli_page() -> str:
    """The help of every command."""
    lines = ["# Commands", "", _MADE, ""]
    for path, command in commands():
        context = click.Context(
            command, info_name=" ".join(["tidemark", *path]), terminal_width=_WIDTH, max_content_width=_WIDTH
        )
        lines += [f"## {' '.join(['tidemark', *path])}", "", "```", command.get_help(context).rstrip(), "```", ""]
    return "\n".join(lines).rstrip() + "\n"


def commands() -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command with its words, groups before their members."""
    top = click.Context(main, info_name="tidemark")
    for name in main.list_commands(top):
        command = main.get_command(top, name)
        if command is not None:
            yield (name,), command
            members = command.commands if isinstance(command, click.Group) else {}
            yield from (((name, member), inner) for member, inner in sorted(members.items()))


def write() -> None:
    """Write every page."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
