"""The page that describes the HTTP interface. Its scripts come from another site, so it may not call this one.

The page is in a sandbox with its own origin, and contains the description instead of fetching it. If a content delivery
network or a proxy changes those scripts, they can neither report nor read anything here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fastapi.openapi.docs import get_swagger_ui_html

if TYPE_CHECKING:
    from fastapi import FastAPI, Response

_SCRIPTS: Final = "https://cdn.jsdelivr.net 'unsafe-inline'"
_POLICY: Final = (
    f"sandbox allow-scripts; default-src 'none'; script-src {_SCRIPTS}; style-src {_SCRIPTS}; img-src data: https:; "
    "connect-src 'none'; form-action 'none'; frame-ancestors 'none'"
)


def add_description(app: FastAPI) -> None:
    """Serves `/docs`."""

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        page = get_swagger_ui_html(
            openapi_url="", title=app.title, swagger_ui_parameters={"spec": app.openapi(), "supportedSubmitMethods": []}
        )
        page.headers["Content-Security-Policy"] = _POLICY
        return page
