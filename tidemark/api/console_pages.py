"""The console's pages below `/console/`: files of a build, with a policy that allows no other content.

Their source is `web/`, built by `make web`. They contain no data: they call the endpoints as any program does, so the
files need no token.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from mimetypes import guess_type
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fastapi import Response
from fastapi.responses import RedirectResponse

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from fastapi import FastAPI

CONSOLE: Final = "/console"
PAGES: Final = ("", "backfills", "entities", "graph", "slice", "slices")
"""The paths of pages below `/console/`. The script reads which page it is."""
_BUNDLE: Final = Path(__file__).with_name("console_bundle")
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_FOREVER: Final = "public, max-age=31536000, immutable"
"""For files whose names depend on their content."""


@dataclass(frozen=True, slots=True)
class _File:
    body: bytes
    media_type: str
    is_named_after_content: bool

    def response(self) -> Response:
        headers = {**_HEADERS, "Cache-Control": _FOREVER if self.is_named_after_content else "no-cache"}
        headers["ETag"] = f'"{sha256(self.body).hexdigest()[:32]}"'
        return Response(self.body, media_type=self.media_type, headers=headers)


def console_files() -> Mapping[str, _File]:
    """The built files by their path."""
    files = {
        f"{CONSOLE}/{path.relative_to(_BUNDLE).as_posix()}": _File(
            path.read_bytes(), guess_type(path.name)[0] or "application/octet-stream", path.parent.name == "assets"
        )
        for path in sorted(_BUNDLE.rglob("*"))
        if path.is_file()
    }
    index = files.pop(f"{CONSOLE}/index.html")
    return {**files, **{f"{CONSOLE}/{page}": index for page in PAGES}}


def add_console(app: FastAPI, files: Mapping[str, _File]) -> None:
    """Serves the files, and a redirect to them."""

    @app.get(CONSOLE, include_in_schema=False)
    async def console() -> Response:
        return RedirectResponse(f"{CONSOLE}/")

    for path, file in files.items():
        app.get(path, include_in_schema=False)(_serving(file))


def _serving(file: _File) -> Callable[[], Awaitable[Response]]:
    async def serve() -> Response:
        return file.response()

    return serve
