"""The text of a file that people write: YAML, SQL."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.entity.yaml_document import SIZE_LIMIT
from tidemark.errors import EntityError

if TYPE_CHECKING:
    from pathlib import Path

_FIRST_READ: Final = 8192


def read_declared_text(path: str | Path, file: str) -> str:
    r"""A file's text, its lines ended by `\n`; of one that is longer than any may be, its beginning.

    `file` is its place below the root. Raises EntityError where it cannot be read or is not UTF-8.
    """
    try:
        opened = os.open(path, os.O_RDONLY)  # of very many files, half the time that Path.read_text takes
    except OSError as error:
        raise EntityError("cannot be read", found=error.strerror, where=file) from error
    try:
        content = os.read(opened, _FIRST_READ)
        if len(content) == _FIRST_READ:
            content += os.read(opened, 4 * SIZE_LIMIT)
    finally:
        os.close(opened)
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise EntityError("this is no UTF-8", found=f"byte {error.start}", where=file) from error
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
