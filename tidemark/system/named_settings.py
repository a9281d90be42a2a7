"""Settings with several named entries, such as `{cache: {kind: redis}}`; in the environment as JSON."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
_MOST: Final = 100
Named = TypeVar("Named")


def named_settings(
    given: object, read: Callable[[str, object], Named], *, noun: str, having: str, example: str
) -> object:
    """The values that `read` makes of each name and its content; a tuple is returned unchanged.

    `noun` (a target) and `having` (their kinds) are words for messages. Raises ValueError.
    """
    if isinstance(given, str):
        given = json.loads(given)
    if isinstance(given, tuple):
        return given
    if not isinstance(given, dict) or len(given) > _MOST:
        raise ValueError(f"expected at most {_MOST} names with {having}, such as {example}")
    return tuple(read(_name(name, noun), content) for name, content in given.items())


def _name(name: object, noun: str) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"'{name}' is not a name of {noun}: write lower-case letters, digits and _")
    return name
