"""What one clause of a declaration asks for, for one slice."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tidemark.dependency_model.entity.dependency import Dependency
    from tidemark.dependency_model.slice import Slice


class Requirement(NamedTuple):
    """The exact upstream slices of one dependency. `dependency.offset` is never None here.

    Slices that do not exist (before the upstream's start, an hour that spring skips) are not among them, and so not
    waited for; slices that lie ahead are. With `or_older` (`last_available`) the one slice that is named is the newest
    candidate, and any earlier slice of that entity will do in its place. Flags that slices in `forgives` raised keep
    none of them back.
    """

    dependency: Dependency
    slices: tuple[Slice, ...]
    or_older: bool = False
    forgives: frozenset[Slice] = frozenset()
