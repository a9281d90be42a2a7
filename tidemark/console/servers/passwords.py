"""Passwords of servers that are started here: made at the first start, in files for the owner only."""

from __future__ import annotations

import os
import secrets
import tempfile
from typing import TYPE_CHECKING, Final

from tidemark.system.files import private_directory

if TYPE_CHECKING:
    from pathlib import Path

_BYTES: Final = 24


def secret_of(file: Path) -> str:
    """The password in this file; if there is none, a new one without characters that need quoting."""
    if not file.exists():
        write_private(file, secrets.token_hex(_BYTES))
    return file.read_text(encoding="ascii")


def write_private(file: Path, text: str) -> None:
    """Write the whole file or none, with mode 0600 from its first byte on."""
    private_directory(file.parent)
    descriptor, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as out:
            out.write(text)
        os.replace(temporary, file)  # noqa: PTH105 - mkstemp gives a name
    except BaseException:
        os.unlink(temporary)  # noqa: PTH108 - as above
        raise
