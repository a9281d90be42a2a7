"""The addresses of the source databases that get heartbeats: a setting with one address for each instance."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from sqlalchemy import URL

from tidemark.capture.heartbeat.errors import DatabaseAddressError
from tidemark.system.masked_urls import read_url

_SCHEMES = ("mysql", "mariadb")
_PORT = 3306
_CA = "ssl_ca"
_NAME = re.compile(r"[\w-]+")
_DATABASE = re.compile(r"[\w$-]+")
_OPTION = re.compile(r"[a-z_]{1,20}")
_HOST = re.compile(r"[\w.:\[\]%-]+")


@dataclass(frozen=True)
class HeartbeatDatabase:
    """The database of an instance's heartbeat table."""

    instance: str
    host: str
    port: int
    name: str
    user: str
    password: str = field(repr=False)
    ca: str | None = None
    """The file of the certificate authorities that sign the server's certificate; without it TLS is off."""

    @classmethod
    def parse(cls, entry: str) -> Self:
        """Parses `a=mysql://user:password@host:3306/school?ssl_ca=/etc/ca.pem`.

        Raises DatabaseAddressError, which never shows the password.
        """
        instance, _, address = entry.strip().partition("=")
        # Without `=` the entry begins with the address, which must not be shown.
        if not _NAME.fullmatch(instance):
            raise DatabaseAddressError.of("", "no instance before the sign =")
        try:
            url = read_url(address, _SCHEMES)
        except ValueError as error:
            raise DatabaseAddressError.of(instance, str(error)) from None
        problem = _problem(url)
        if problem:
            raise DatabaseAddressError.of(instance, problem)
        return cls(
            instance=instance,
            host=url.host or "",
            port=url.port or _PORT,
            name=url.database or "",
            user=url.username or "",
            password=url.password or "",
            ca=_ca(url),
        )

    def __str__(self) -> str:
        return f"{self.user}@{self.host}:{self.port}/{self.name}"


def databases(setting: str) -> tuple[HeartbeatDatabase, ...]:
    """The databases of a comma-separated setting.

    Raises DatabaseAddressError, also for an instance with two addresses.
    """
    parsed = tuple(HeartbeatDatabase.parse(entry) for entry in setting.split(",") if entry.strip())
    names = [database.instance for database in parsed]
    for name in names:
        if names.count(name) > 1:
            raise DatabaseAddressError.of(name, "two addresses")
    return parsed


def _problem(url: URL) -> str | None:
    """The first missing, wrong or unknown part of the address; None if it is valid."""
    parts = {"host": url.host, "user": url.username, "database after the host": url.database}
    missing = next((what for what, given in parts.items() if not given), None)
    if missing:
        return f"no {missing}"
    if not _DATABASE.fullmatch(url.database or "") or not _HOST.fullmatch(url.host or ""):
        return "a host or database with invalid characters; commas separate entries"
    unknown = sorted(set(url.query) - {_CA})
    if unknown:
        named = f" {unknown[0]!r}" if _OPTION.fullmatch(unknown[0]) else ""
        return f"an option{named} besides {_CA}, the only one allowed"
    return None if _ca(url) is None or Path(_ca(url) or "").is_file() else f"the file of {_CA} does not exist"


def _ca(url: URL) -> str | None:
    given = url.query.get(_CA)
    return given if given is None or isinstance(given, str) else given[-1]
