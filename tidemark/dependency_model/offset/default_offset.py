"""The offset of a dependency that declares none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.offset.offset import ALL, SAME, STATIC, Offset

if TYPE_CHECKING:
    from tidemark.dependency_model.time.period import Period


def natural_offset(down: Period | None, up: Period | None) -> Offset:
    """All upstream slices in the window, or the one that contains it.

    For an upstream without periods, its only slice.
    """
    if up is None:
        return STATIC
    return ALL if down is not None and up.is_finer_than(down) else SAME
