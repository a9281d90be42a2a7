"""URLs of databases for people: what is secret in them is masked, wherever it stands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sqlalchemy import URL

_MASK: Final = "***"
_SECRET: Final = re.compile(r"pass|pwd|secret|token|key$", re.IGNORECASE)
"""Names of URL parameters with secret values: `password`, `sslpassword`, `passfile`, `sslkey`, `access_token` ..."""


def masked_url(url: URL) -> str:
    """The URL with its password masked, and with the values of secret parameters masked."""
    public = {name: _MASK if _SECRET.search(name) else value for name, value in url.query.items()}
    text = url.set(query=public).render_as_string(hide_password=True)
    return text.replace("=%2A%2A%2A", f"={_MASK}")


def without_secrets(text: str, url: URL) -> str:
    """A text of somebody else's, a driver or a server, in which no secret of the URL stands."""
    for secret in sorted(_secrets_of(url), key=len, reverse=True):
        text = text.replace(secret, _MASK)
    return text


def _secrets_of(url: URL) -> set[str]:
    values = [str(url.password)] if url.password else []
    for name, value in url.query.items():
        if _SECRET.search(name):
            values += [value] if isinstance(value, str) else value
    return {value for value in values if value}
