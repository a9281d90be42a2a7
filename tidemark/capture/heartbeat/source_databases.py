"""The source databases that heartbeats are written into: one address an instance, password and all, in a setting."""

import re
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import unquote, urlsplit

from tidemark.capture.heartbeat.errors import DatabaseAddressError

_SCHEMES = ("mysql", "mariadb")
_PORT = 3306
_NAME = re.compile(r"[\w-]+")


@dataclass(frozen=True)
class HeartbeatDatabase:
    """Where an instance's heartbeat table is."""

    instance: str
    host: str
    port: int
    name: str
    user: str
    password: str = field(repr=False)

    @classmethod
    def parse(cls, entry: str) -> Self:
        """`a=mysql://user:password@host:3306/school`. Raises DatabaseAddressError, which never shows the password."""
        instance, _, address = entry.strip().partition("=")
        # Without it the entry begins with the address, which nobody should see.
        if not _NAME.fullmatch(instance):
            raise DatabaseAddressError.of("", "no instance before =")
        try:
            url = urlsplit(address)
            port = url.port or _PORT
        except ValueError:
            # What it says quotes what stands after a colon: part of the password where that has a / in it.
            raise DatabaseAddressError.of(instance, "no number as the port, or a / in the password (%2F)") from None
        missing = _missing(url.scheme, url.hostname, url.username, url.path)
        if missing:
            raise DatabaseAddressError.of(instance, f"no {missing}")
        return cls(
            instance=instance,
            host=url.hostname or "",
            port=port,
            name=url.path.removeprefix("/"),
            user=unquote(url.username or ""),
            password=unquote(url.password or ""),
        )

    def __str__(self) -> str:
        return f"{self.user}@{self.host}:{self.port}/{self.name}"


def databases(setting: str) -> tuple[HeartbeatDatabase, ...]:
    """All of a comma-separated setting. Raises DatabaseAddressError, also for an instance that is named twice."""
    parsed = tuple(HeartbeatDatabase.parse(entry) for entry in setting.split(",") if entry.strip())
    names = [database.instance for database in parsed]
    for name in names:
        if names.count(name) > 1:
            raise DatabaseAddressError.of(name, "two addresses")
    return parsed


def _missing(scheme: str, host: str | None, user: str | None, path: str) -> str | None:
    parts = {
        "mysql:// or mariadb://": scheme in _SCHEMES,
        "host": host,
        "user": user,
        "database after the host": path.removeprefix("/"),
    }
    return next((what for what, given in parts.items() if not given), None)
