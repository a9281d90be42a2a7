# ruff: noqa: INP001 - a script of the image's build, in no package
"""What of `requirements.lock` an image needs: `python deploy/image_requirements.py LOCK PYPROJECT`.

The lock is also that of the tests. Kept are the project's dependencies with the extra `kubernetes`, what builds the
engine's wheel, and what these need, as the lock's own `# via` lines say; with their hashes.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

EXTRA = "kubernetes"
_ENTRY = re.compile(r"^(?P<name>[a-z0-9][a-z0-9._-]*)==.*?(?=^[a-z0-9]|\Z)", re.MULTILINE | re.DOTALL)
_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*")


def main(lock: Path, pyproject: Path) -> str:
    """The text of the image's requirements."""
    return selected(lock.read_text(encoding="utf-8"), tomllib.loads(pyproject.read_text(encoding="utf-8")))


def selected(lock: str, project: dict[str, Any]) -> str:
    """The lock's entries of what the project needs. Raises ValueError where the lock lacks one of these."""
    entries = [(match["name"], match[0]) for match in _ENTRY.finditer(lock)]
    needed = direct(project)
    missing = needed - {name for name, _ in entries}
    if missing:
        raise ValueError(f"requirements.lock lacks {', '.join(sorted(missing))}: lock it again")
    before = set[str]()
    while before != needed:
        before = set(needed)
        needed |= {name for name, text in entries if wanted_by(text) & before}
    return "".join(text for name, text in entries if name in needed)


def direct(project: dict[str, Any]) -> set[str]:
    """The names in pyproject.toml."""
    table = project["project"]
    lines = [*table["dependencies"], *table["optional-dependencies"][EXTRA], *project["build-system"]["requires"]]
    return {_normal(match[0]) for line in lines if (match := _NAME.match(line))}


def wanted_by(entry: str) -> set[str]:
    """Which packages an entry of the lock is there for."""
    comments = [line.strip().removeprefix("#").strip() for line in entry.splitlines() if line.strip().startswith("#")]
    return {_normal(word) for line in comments if (word := line.removeprefix("via").strip())}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    sys.stdout.write(main(Path(sys.argv[1]), Path(sys.argv[2])))
