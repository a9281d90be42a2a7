"""Which real servers this machine can start.

On a developer's machine a missing one skips its tests, with a reason that says what to install; with `CI=true` in the
environment it is a failure, as a skipped proof would look like a passed one.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Requirement:
    """A server and the programs that it needs (each entry: alternatives, of which one is enough)."""

    component: str
    programs: tuple[tuple[str, ...], ...]
    install: str


MARIADB = Requirement(
    "MariaDB", (("mariadbd",), ("mariadb-install-db",), ("mariadb-binlog",)), "install the package mariadb-server"
)
KAFKA = Requirement("Kafka", (("java",), ("mvn",)), "install Java 17 or later and Maven 3.8 or later")
POSTGRESQL = Requirement("PostgreSQL", (("initdb",), ("postgres",)), "install the package postgresql")


def find_program(name: str) -> str | None:
    """The path of a program; also where Debian keeps the servers that are not on a user's PATH."""
    found = shutil.which(name)
    if found:
        return found
    places = [Path("/usr/sbin"), *sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    return next((str(place / name) for place in places if (place / name).exists()), None)


def missing_programs(requirement: Requirement) -> list[str]:
    """Those of the requirement that no alternative of is installed."""
    return [" or ".join(names) for names in requirement.programs if not any(find_program(name) for name in names)]


def require(*requirements: Requirement) -> None:
    """Skip the calling test or fixture (fail it with CI=true) when a server cannot be started here."""
    for requirement in requirements:
        missing = missing_programs(requirement)
        if missing:
            reason = f"{requirement.component} is not installed ({', '.join(missing)}): {requirement.install}"
            if os.environ.get("CI") == "true":
                pytest.fail(f"with CI=true every real server is required: {reason}", pytrace=False)
            pytest.skip(reason)
