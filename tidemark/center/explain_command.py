"""The command line that explains a slice."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidemark.dependency_model.slice import Slice


def explain_command(slice_: Slice) -> str:
    """`tidemark explain orders 2026-03-29 --part region=cn`."""
    parts = [word for name, value in slice_.sub for word in ("--part", f"{name}={value}")]
    return shlex.join(["tidemark", "explain", slice_.entity, slice_.key, *parts])
