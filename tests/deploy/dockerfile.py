"""The image's Dockerfile, read as far as tests need it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tests.project import CHECKOUT

if TYPE_CHECKING:
    from pathlib import Path

DOCKERFILE: Final = CHECKOUT / "deploy" / "Dockerfile"


@dataclass
class Stage:
    """One `FROM ... AS name` with its instructions in order: (word, rest)."""

    base: str
    name: str
    instructions: list[tuple[str, str]] = field(default_factory=list)

    def all(self, word: str) -> list[str]:
        """What stands behind each instruction of this word."""
        return [rest for given, rest in self.instructions if given == word]

    def copied(self) -> list[tuple[list[str], str]]:
        """What is copied out of the repository, and to where."""
        words = [shlex.split(rest) for rest in self.all("COPY")]
        return [(given[:-1], given[-1]) for given in words if not given[0].startswith("--from=")]


def stages(path: Path = DOCKERFILE) -> dict[str, Stage]:
    """The stages by name."""
    text = "\n".join(line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    made: dict[str, Stage] = {}
    for line in text.replace("\\\n", " ").splitlines():
        word, _, rest = line.strip().partition(" ")
        if word == "FROM":
            base, _, name = rest.partition(" AS ")
            made[name] = Stage(base, name)
        elif word:
            made[list(made)[-1]].instructions.append((word, rest.strip()))
    return made
