"""The requirement of one clause of a declaration, for one slice."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tidemark.dependency_model.entity.dependency import Dependency
    from tidemark.dependency_model.slice import Slice


class Requirement(NamedTuple):
    """The exact upstream slices of one dependency. `dependency.offset` is never None here.

    Slices that do not exist (before the upstream's start, an hour that spring skips) are left out and not waited for.
    Future slices are included. With `or_older` (`last_available`) `slices` has the newest candidate, and any earlier
    slice of that entity also suffices. Quality flags that slices in `forgives` raised do not block. `beyond` (seconds
    since 1970) is the instant that the high watermark of each slice must have reached.
    """

    dependency: Dependency
    slices: tuple[Slice, ...]
    or_older: bool = False
    forgives: frozenset[Slice] = frozenset()
    beyond: int | None = None
