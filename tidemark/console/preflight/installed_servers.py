"""Checks whether the servers of the chain can be started on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.console.servers.jars import COMPONENTS, are_there
from tidemark.console.servers.required_programs import KAFKA, MARIADB, missing_programs
from tidemark.system.check_finding import Finding

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.console.servers.required_programs import RequiredProgram


def servers(components: Path = COMPONENTS) -> list[Finding]:
    """MariaDB's programs; Maven only until the jars are fetched."""
    return [_programs(MARIADB), *([] if are_there(components) else [_programs(KAFKA)])]


def _programs(wanted: RequiredProgram) -> Finding:
    missing = missing_programs(wanted)
    if not missing:
        return Finding(wanted.component, "ok", "installed")
    return Finding(wanted.component, "problem", f"not installed: {', '.join(missing)}", wanted.install)
