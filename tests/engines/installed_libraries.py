"""Packages of other engines in a folder of their own, kept for the next run: the tests' own libraries are others."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path


def installed_libraries(wanted: Path) -> Path:
    """The folder with the packages of a list of requirements."""
    number = hashlib.sha256(wanted.read_bytes() + sys.version.encode()).hexdigest()[:12]
    folder = Path.home() / ".cache" / "tidemark" / f"engines-{number}"
    if not (folder / "complete").exists():
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade"]
        subprocess.run([*install, "--target", str(folder), "-r", str(wanted)], check=True)
        (folder / "complete").touch()
    return folder
