"""Environments of machines that lack something."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def without_java(empty: Path) -> dict[str, str]:
    """An environment on whose PATH nothing is."""
    return {"PATH": str(empty)}


def fake_java(folder: Path, script: str) -> Path:
    """A JAVA_HOME whose java is this shell script."""
    java = folder / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\n{script}\n")
    java.chmod(0o755)
    return folder / "jdk"
