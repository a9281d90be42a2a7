"""One JSON document over HTTP(S), without redirects, limited in time and size."""

from __future__ import annotations

import http.client
import json
import time
from typing import TYPE_CHECKING, Any, Final
from urllib.error import HTTPError, URLError
from urllib.request import build_opener

from tidemark.crawl.errors import ProbeError
from tidemark.system.web_request import NoRedirects

if TYPE_CHECKING:
    from collections.abc import Callable
    from urllib.request import Request

NOT_THERE: Final = object()
"""The answer for status 404."""
_MOST_BYTES: Final = 1024 * 1024
_PART: Final = 16 * 1024
_NOT_FOUND: Final = 404


def fetch_json(request: Request, timeout_seconds: float, mask: Callable[[str], str]) -> Any:
    """The document, or NOT_THERE. `mask` removes secrets from messages.

    Raises ProbeError for a server that does not answer in time, or not with JSON.
    """
    body = _fetch(request, timeout_seconds, mask)
    return NOT_THERE if body is None else _json(body)


def _fetch(request: Request, timeout_seconds: float, mask: Callable[[str], str]) -> bytes | None:
    until = time.monotonic() + timeout_seconds
    try:
        with build_opener(NoRedirects).open(request, timeout=timeout_seconds) as answer:
            return _read(answer, until)
    except HTTPError as error:
        with error:
            if error.code == _NOT_FOUND:
                return None
        raise ProbeError("the server refused the request", found=f"status {error.code}") from None
    except (URLError, OSError, http.client.HTTPException, ValueError) as error:
        raise ProbeError("the server did not answer", found=mask(str(error))[:300]) from None


def _read(answer: http.client.HTTPResponse, until: float) -> bytes:
    """The body, limited in size and time, so that a slow sender does not block."""
    body = b""
    while part := answer.read1(_PART):
        body += part
        if len(body) > _MOST_BYTES:
            raise ProbeError("the answer is too long", expected=f"at most {_MOST_BYTES} bytes")
        if time.monotonic() > until:
            raise ProbeError("the answer took too long", found=f"{len(body)} bytes")
    if answer.length:  # fewer bytes than announced
        raise ProbeError(
            "the answer was cut off", expected=f"{len(body) + answer.length} bytes", found=f"{len(body)} bytes"
        )
    return body


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise ProbeError("the answer is not JSON", found=f"{len(body)} bytes") from None
