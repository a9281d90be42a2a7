"""Which real servers this machine can start.

On a developer's machine a missing one skips its tests, with a reason that says what to install; with `CI=true` in the
environment it is a failure, as a skipped proof would look like a passed one.
"""

from __future__ import annotations

import os

import pytest

from tidemark.console.servers.required_programs import KAFKA, MARIADB, RequiredProgram, missing_programs

__all__ = ["KAFKA", "MARIADB", "POSTGRESQL", "REDIS", "VARNISH", "require"]

POSTGRESQL = RequiredProgram("PostgreSQL", (("initdb",), ("postgres",)), "install the package postgresql")
REDIS = RequiredProgram("Redis", (("redis-server",),), "install the package redis-server")
VARNISH = RequiredProgram("Varnish", (("varnishd",),), "install the packages varnish and varnish-modules")


def require(*requirements: RequiredProgram) -> None:
    """Skip the calling test or fixture (fail it with CI=true) when a server cannot be started here."""
    for requirement in requirements:
        missing = missing_programs(requirement)
        if missing:
            reason = f"{requirement.component} is not installed ({', '.join(missing)}): {requirement.install}"
            if os.environ.get("CI") == "true":
                pytest.fail(f"with CI=true every real server is required: {reason}", pytrace=False)
            pytest.skip(reason)
