"""Database URLs: one parser for the settings, and masks for secrets in shown URLs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy import URL

POSTGRESQL: Final = "postgresql+psycopg2"

_MASK: Final = "***"
_PUBLIC: Final = frozenset(
    (
        *("application_name", "channel_binding", "connect_timeout", "dbname", "host", "hostaddr", "options", "port"),
        *("sslcert", "sslcrl", "sslmode", "sslrootcert", "ssl_ca", "target_session_attrs", "user"),
    )
)
"""Parameters whose values may be shown. Any other may be a secret, such as `password`, `sslpassword` or a misspelling.
"""


def read_url(given: str | URL, drivers: Collection[str]) -> URL:
    """A URL of one of these drivers; `postgresql` is `postgresql+psycopg2`. Raises ValueError without a secret."""
    try:
        url = make_url(given)
    except (ArgumentError, ValueError):
        # A text that cannot be parsed cannot be masked either.
        raise ValueError("the text is not a URL") from None
    url = url.set(drivername=POSTGRESQL) if url.drivername == "postgresql" else url
    if url.drivername not in drivers:
        raise ValueError(masked_url(url))
    return url


def masked_url(url: URL) -> str:
    """The URL with its password and the values of all possibly secret parameters masked."""
    public = {name: value if name in _PUBLIC else _MASK for name, value in url.query.items()}
    text = url.set(query=public).render_as_string(hide_password=True)
    return text.replace("=%2A%2A%2A", f"={_MASK}")


def without_secrets(text: str, url: URL) -> str:
    """A text from a driver or a server, with all secrets of the URL masked."""
    for secret in sorted(_secrets_of(url), key=len, reverse=True):
        text = text.replace(secret, _MASK)
    return text


def _secrets_of(url: URL) -> set[str]:
    values = [str(url.password)] if url.password else []
    for name, value in url.query.items():
        if name not in _PUBLIC:
            values += [value] if isinstance(value, str) else value
    return {value for value in values if value}
