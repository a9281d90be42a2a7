"""A cache as a JSON file in the data folder: one file for each kind and folder of declarations.

The data folder is never created for it. An unreadable file counts as empty, and a failed write only costs time. Writers
replace the whole file, so readers never see a part of it.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tidemark.strict_json import json_text
from tidemark.system.files import replace_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tidemark.system.settings import Settings


def cache_path(kind: str, root: Path, settings: Settings) -> Path | None:
    """The path of the cache; None if the data folder does not exist yet."""
    name = hashlib.sha256(str(root.resolve()).encode()).hexdigest()[:16]
    return settings.data / "cache" / f"{kind}-{name}.json" if settings.data.is_dir() else None


def read_cache(path: Path | None) -> dict[str, Any]:
    """The entries; empty if there are none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8")) if path else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def write_cache(path: Path | None, entries: Mapping[str, Any]) -> None:
    """Replaces all entries."""
    if path is None:
        return
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, exist_ok=True)
        replace_text(path, json_text(entries))
