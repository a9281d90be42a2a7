"""A row in RESULTS.md: `python -m benchmarks record NAME [OPTION ..]`."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import psutil

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

RESULTS: Final = Path(__file__).with_name("RESULTS.md")
_HEADER: Final = ("| command | commit | day | machine | figures |", "| --- | --- | --- | --- | --- |")


def row(name: str, options: Sequence[str], figures: Mapping[str, Any]) -> str:
    """The row of a measurement that was made now, on this machine, at the commit that is checked out."""
    command = " ".join(("python -m benchmarks", name, *options))
    told = ", ".join(f"{key} {value}" for key, value in _flat(figures))
    return f"| `{command}` | {_commit()} | {datetime.now(UTC):%Y-%m-%d} | {_machine()} | {told} |"


def add_row(text: str, name: str, new: str) -> str:
    """The text with the row at the end of the figure's table of records, which is made where it is missing."""
    lines = text.rstrip("\n").split("\n")
    title = f"## {name}"
    if title not in lines:
        return "\n".join((*lines, "", title, "", *_HEADER, new, ""))
    begin = lines.index(title)
    end = next((at for at in range(begin + 1, len(lines)) if lines[at].startswith("## ")), len(lines))
    while not lines[end - 1].strip():
        end -= 1
    if _HEADER[0] not in lines[begin:end]:
        return "\n".join((*lines[:end], "", *_HEADER, new, *lines[end:], ""))
    at = lines.index(_HEADER[0], begin)
    while at < len(lines) and lines[at].startswith("|"):
        at += 1
    return "\n".join((*lines[:at], new, *lines[at:], ""))


def _flat(figures: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Figures within figures by their whole names."""
    flat = list[tuple[str, Any]]()
    for key, value in figures.items():
        if isinstance(value, dict):
            flat += _flat(value, f"{prefix}{key}.")
        else:
            flat.append((f"{prefix}{key}", value))
    return flat


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty", "--abbrev=8"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=RESULTS.parent, check=False)
    return done.stdout.strip() or "unknown"


def _machine() -> str:
    memory = round(psutil.virtual_memory().total / 2**30)
    load = os.getloadavg()[0]
    return f"{os.cpu_count()} cores, {memory} GiB, Python {platform.python_version()}, load {load:.1f}"
