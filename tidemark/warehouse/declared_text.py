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
    r"""The text of a file with `\n` at line ends; only the beginning of a file that is longer than the limit.

    `file` is its path below the root. Raises EntityError if it cannot be read or is not UTF-8.
    """
    try:
        opened = os.open(path, os.O_RDONLY)  # half the time of Path.read_text for many files
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
        raise EntityError("this is not UTF-8", found=f"byte {error.start}", where=file) from error
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
