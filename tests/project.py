"""A project of Tidemark for a test: its marker, and declarations below `warehouse_assets`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from tidemark.system.project_root import DECLARATIONS, PROJECT_FILE

if TYPE_CHECKING:
    from collections.abc import Mapping

CHECKOUT: Final = Path(__file__).resolve().parents[1]
"""This repository, which is a project itself."""


def write_project(root: Path, declarations: Mapping[str, str], settings: str = "time_zone: Europe/Paris\n") -> Path:
    """Write `tidemark.yaml` and the files of declarations, by their way from `warehouse_assets`; returns the root."""
    root.mkdir(parents=True, exist_ok=True)
    (root / PROJECT_FILE).write_text(settings, encoding="utf-8")
    (root / DECLARATIONS).mkdir(exist_ok=True)
    for name, text in declarations.items():
        path = root / DECLARATIONS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root
