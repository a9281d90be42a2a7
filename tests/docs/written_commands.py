"""The commands that README and docs/ show: those in blocks, and those between back quotes."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).resolve().parents[2]
_BLOCK: Final = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_INLINE: Final = re.compile(r"`((?:\.venv/bin/)?tidemark [^`]+|make [a-z-]+|python -m [^`]+)`")
_COMMAND: Final = re.compile(r"^\s*((?:\.venv/bin/)?tidemark |make [a-z]|python -m )")


@dataclass(frozen=True)
class WrittenCommand:
    """A command as a page shows it; `is_whole` in a block, where a person copies it."""

    page: str
    words: tuple[str, ...]
    is_whole: bool

    def __str__(self) -> str:
        return f"{self.page}: {' '.join(self.words)}"


def pages() -> list[Path]:
    """What people read first; the reference is made from the commands themselves."""
    return [ROOT / "README.md", ROOT / "SECURITY.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").glob("*.md"))]


def written_commands() -> list[WrittenCommand]:
    """Each command once a page."""
    return list(dict.fromkeys(command for page in pages() for command in _commands(page)))


def _commands(page: Path) -> Iterator[WrittenCommand]:
    text = page.read_text(encoding="utf-8")
    name = page.relative_to(ROOT).as_posix()
    for _, block in _BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            if _COMMAND.match(line):
                yield WrittenCommand(name, _words(re.split(r"\s{2,}|\s#", line.strip())[0]), is_whole=True)
    for inline in _INLINE.findall(" ".join(_BLOCK.sub("", text).split())):
        yield WrittenCommand(name, _words(inline), is_whole=False)


def _words(text: str) -> tuple[str, ...]:
    first, *others = shlex.split(text)
    return (first.removeprefix(".venv/bin/"), *others)


def python_blocks() -> Iterator[tuple[str, str]]:
    """Each block of Python with its page."""
    for page in pages():
        for language, block in _BLOCK.findall(page.read_text(encoding="utf-8")):
            if language == "python":
                yield page.name, block
