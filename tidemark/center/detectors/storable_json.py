"""External JSON as plain values, checked first so that it can be stored and read again.

A parsed value may still be too deep for later readers. So depth, numbers and texts are checked here, without recursion,
in every field.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final, NoReturn

from tidemark.center.errors import RequestError
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from pydantic import ValidationError

MAX_DEPTH: Final = 16
"""Most nested lists and objects of one event."""
MAX_EVENT_BYTES: Final = 64 * 1024
INT64: Final = range(-(1 << 63), 1 << 63)


def parse_body(body: bytes) -> Any:
    """The value of a text. Raises RequestError for invalid JSON or UTF-8, and for NaN and infinity."""
    try:
        return json.loads(body.decode(), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise RequestError("the body is not JSON", found=str(error)[:200]) from error


def check_event(value: Any, where: str, what: str = "event") -> None:
    """Raise RequestError unless an event (or `what`) is an object, small and plain enough to be stored."""
    if not isinstance(value, dict):
        raise RequestError(f"the {what} is not an object", found=type(value).__name__, where=where)
    _check_depth(value, where, what)
    size = len(json_text(value, ensure_ascii=False).encode())
    if size > MAX_EVENT_BYTES:
        raise RequestError(
            f"the {what} is too large", expected=f"at most {MAX_EVENT_BYTES} bytes", found=f"{size}", where=where
        )


def invalid_field(error: ValidationError, where: str) -> RequestError:
    """The error of the first invalid field; `where` is the prefix of its path."""
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"]))[:200]
    return RequestError(first["msg"], found=repr(first["input"])[:200], where=f"{where}{place}")


def _check_depth(value: Any, where: str, what: str) -> None:
    level, depth = [value], 0
    while level:
        depth += 1
        for member in level:
            _check_plain(member, where)
        level = [inner for member in level for inner in _members(member)]
        if depth > MAX_DEPTH and level:
            raise RequestError(f"the {what} is nested too deeply", expected=f"at most {MAX_DEPTH} levels", where=where)


def _members(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value, *value.values()]
    return value if isinstance(value, list) else []


def _check_plain(value: Any, where: str) -> None:
    """Check that a number fits a database, and a text is Unicode without NUL."""
    if isinstance(value, str):
        if not is_storable(value):
            raise RequestError("a text without the character NUL is needed, in Unicode", where=where)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise RequestError("the number is too large", expected="a finite number", where=where)
    elif isinstance(value, int) and value not in INT64:
        raise RequestError("the number is too large", expected="64 bits", where=where)


def is_storable(text: str) -> bool:
    """Whether every store can keep it: Unicode, without NUL."""
    if "\0" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON number")
