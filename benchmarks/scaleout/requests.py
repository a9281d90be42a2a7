"""What was asked of an object store: requests by kind, and their bytes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_MULTIPART: Final = ("uploads", "uploadId", "partNumber")
_CONDITIONS: Final = ("if-none-match", "if-match")


@dataclass(frozen=True)
class Request:
    """One request as a proxy saw it; `key` is an object's, or of a LIST its prefix. Bytes are of bodies alone.

    `begun` and `ended` are seconds of one clock.
    """

    kind: str
    key: str
    status: int
    bytes_sent: int
    bytes_received: int
    begun: float = 0.0
    ended: float = 0.0

    def __str__(self) -> str:
        return f"{self.kind:15} {self.status} {self.bytes_sent:8} {self.bytes_received:8} {self.key}"


def kind_of(method: str, target: str, headers: Mapping[str, str]) -> tuple[str, str]:
    """What a request is, and what of; header names are in lower case."""
    parts = urlsplit(target)
    query = parse_qs(parts.query, keep_blank_values=True)
    bucket, _, key = unquote(parts.path).removeprefix("/").partition("/")
    if any(name in query for name in _MULTIPART):
        return "multipart", key
    if method == "GET" and not key:
        after = query.get("start-after", query.get("continuation-token", [""]))[0]
        return "LIST", query.get("prefix", [""])[0] + (f" after {after}" if after else "")
    if method == "POST" and "delete" in query:
        return "DELETE", f"several of {bucket}"
    return _plain_kind(method, headers), key


def _plain_kind(method: str, headers: Mapping[str, str]) -> str:
    if method == "GET" and "range" in headers:
        return "ranged GET"
    if method == "PUT" and any(name in headers for name in _CONDITIONS):
        return "conditional PUT"
    return method


def waits(requests: Iterable[Request]) -> int:
    """How many of the requests follow each other: the most of which none began before the one before it had ended."""
    count, end = 0, float("-inf")
    for request in sorted(requests, key=lambda request: request.begun):
        if request.begun >= end:
            count, end = count + 1, request.ended
        else:
            end = min(end, request.ended)
    return count


def figures(name: str, requests: Iterable[Request]) -> dict[str, Any]:
    """`requests_per_<name>`, how many of them follow each other, and the same by kind and in bytes."""
    requests = list(requests)
    kinds = Counter(request.kind for request in requests)
    return {
        f"requests_per_{name}": len(requests),
        f"waits_per_{name}": waits(requests),
        f"kinds_per_{name}": dict(sorted(kinds.items())),
        f"bytes_per_{name}": sum(request.bytes_sent + request.bytes_received for request in requests),
    }
