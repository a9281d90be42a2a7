"""Pages of an HTTP cache (Varnish, nginx, a CDN), purged by surrogate keys in a header or by their paths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from tidemark.refresh.errors import TargetDownError, TargetRefusedError, TargetSettingError
from tidemark.system.web_request import send

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tidemark.refresh.refreshed_slice import RefreshedSlice
    from tidemark.system.refresh_target import RefreshTarget

_LONGEST_HEADER: Final = 4_000
_NOT_CACHED: Final = (404, 410, 412)
"""The status codes that caches return for a page that they do not hold."""


class HttpPurge:
    """A request carries as many keys as a header holds; each path is a request of its own."""

    def __init__(self, target: RefreshTarget, address: str) -> None:
        self._target, self._address = target, address.rstrip("/")

    def deliver(self, refreshed: RefreshedSlice) -> None:
        """See RefreshAdapter."""
        for told in refreshed.made:
            for header in _headers(refreshed.texts(told.tags, _encoded)):
                self._ask("/", {self._target.header: header}, taken=())
            for path in refreshed.texts(told.paths, _encoded):
                self._ask(f"/{path.lstrip('/')}", {}, taken=_NOT_CACHED)

    def _ask(self, path: str, headers: Mapping[str, str], taken: Sequence[int]) -> None:
        try:
            answer = send(self._target.method, self._address + path, headers)
        except ValueError:
            raise TargetSettingError.of(self._target.name, "http://host:port or https://host") from None
        if answer.is_busy:
            raise TargetDownError.of(self._target.name, answer.found)
        if not answer.is_taken and answer.status not in taken:
            raise TargetRefusedError.of(self._target.name, f"{answer.found} to {self._target.method}")


def _headers(tags: Sequence[str]) -> Iterator[str]:
    """Values of the header; each joins as many tags as fit."""
    header = ""
    for tag in tags:
        if header and len(header) + len(tag) >= _LONGEST_HEADER:
            yield header
            header = ""
        header = f"{header} {tag}".strip()
    if header:
        yield header


def _encoded(value: str) -> str:
    """A value as part of a path or header. Spaces are encoded, because they separate the keys of a header."""
    return quote(value, safe=":+")
