"""One request to the address in a setting: without redirects, with a timeout, and without its text in any error."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

if TYPE_CHECKING:
    from collections.abc import Mapping

SECONDS: Final = 10.0
"""The timeout of an answer in seconds."""
_BUSY: Final = (429, 500, 502, 503, 504)
_WEB: Final = ("http", "https")


class WebAnswer(NamedTuple):
    """The status of an answer. It is None without an answer; then `found` is the reason, without the address."""

    status: int | None
    found: str

    @property
    def is_taken(self) -> bool:
        """Whether the server accepted the request."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def is_busy(self) -> bool:
        """Whether the server would refuse any request now."""
        return self.status is None or self.status in _BUSY


class NoRedirects(HTTPRedirectHandler):
    """Treats a redirect as a failure: the request goes only to the given server."""

    def redirect_request(self, *_arguments: object) -> None:
        return None


def send(method: str, address: str, headers: Mapping[str, str], body: bytes | None = None) -> WebAnswer:
    """Send a request. A user and password in the address become basic authentication.

    Raises ValueError, without the address, for an address that is not a web server's.
    """
    try:
        url, credentials = _without_credentials(address)
        is_web = urlsplit(url).scheme in _WEB and bool(urlsplit(url).hostname)
        request = Request(url, body, {"User-Agent": "tidemark", **headers}, method=method)  # noqa: S310 - looked at below
    except ValueError:
        is_web = False
    if not is_web:
        raise ValueError("not the address of a web server")
    if credentials:
        request.add_header("Authorization", f"Basic {base64.b64encode(credentials.encode()).decode()}")
    try:
        with build_opener(NoRedirects).open(request, timeout=SECONDS) as answer:
            return WebAnswer(answer.status, f"it answered {answer.status}")
    except HTTPError as error:
        error.close()
        return WebAnswer(error.code, f"it answered {error.code}")
    except URLError as error:
        return WebAnswer(None, type(error.reason).__name__)
    except Exception as error:  # noqa: BLE001 - the client's messages may hold the address
        return WebAnswer(None, type(error).__name__)


def _without_credentials(address: str) -> tuple[str, str]:
    """A URL and the `user:password` that it had."""
    parts = urlsplit(address)
    user_info, at, host = parts.netloc.rpartition("@")
    return parts._replace(netloc=host).geturl() if at else address, unquote(user_info)
