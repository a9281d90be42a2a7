"""Restores the parts of a process that a run may change, so that the next run does not see the changes."""

from __future__ import annotations

import decimal
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def restore_process_afterwards() -> Iterator[None]:
    """Restore environment, folder, umask, decimal context and temporary folder after the block, however it ends."""
    environment, folder, mask = dict(os.environ), Path.cwd(), os.umask(0o077)
    os.umask(mask)
    decimals, temporary = decimal.getcontext().copy(), tempfile.tempdir
    try:
        yield
    finally:
        decimal.setcontext(decimals)
        tempfile.tempdir = temporary
        os.umask(mask)
        os.chdir(folder)
        _restore(environment)


def _restore(environment: dict[str, str]) -> None:
    for name in os.environ.keys() - environment.keys():
        del os.environ[name]
    for name, value in environment.items():
        if os.environ.get(name) != value:
            os.environ[name] = value
