from __future__ import annotations

import shutil
from pathlib import Path


def find_program(name: str) -> str | None:
    """The path of a program, also in the folders where Debian keeps servers that are not on a user's PATH."""
    on_path = shutil.which(name)
    if on_path:
        return on_path
    places = [Path("/usr/sbin"), *sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    return next((str(place / name) for place in places if (place / name).exists()), None)
