"""A JSON file of what was computed before, safe to lose: one a kind and folder of declarations, under the data folder.

The data folder is never created for it. A file that cannot be read is as good as none; one that cannot be written costs
only time. Writers replace it whole, so readers never see half of one.
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
    """Where it is kept; None where there is no data folder yet."""
    name = hashlib.sha256(str(root.resolve()).encode()).hexdigest()[:16]
    return settings.data / "cache" / f"{kind}-{name}.json" if settings.data.is_dir() else None


def read_cache(path: Path | None) -> dict[str, Any]:
    """What is kept, or nothing."""
    try:
        content = json.loads(path.read_text(encoding="utf-8")) if path else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def write_cache(path: Path | None, entries: Mapping[str, Any]) -> None:
    """Keep these entries and no others."""
    if path is None:
        return
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, exist_ok=True)
        replace_text(path, json_text(entries))
