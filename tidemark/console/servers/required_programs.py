"""Which programs the servers need, and which of them this machine lacks."""

from __future__ import annotations

from dataclasses import dataclass

from tidemark.system.installed_programs import find_program


@dataclass(frozen=True)
class RequiredProgram:
    """A server and the programs that it needs (each entry: alternatives, of which one is enough)."""

    component: str
    programs: tuple[tuple[str, ...], ...]
    install: str


MARIADB = RequiredProgram(
    "MariaDB", (("mariadbd",), ("mariadb-install-db",), ("mariadb-binlog",)), "install the package mariadb-server"
)
KAFKA = RequiredProgram("Kafka", (("java",), ("mvn",)), "install Java 17 or later and Maven 3.8 or later")


def missing_programs(requirement: RequiredProgram) -> list[str]:
    """Those of the requirement that no alternative of is installed."""
    return [" or ".join(names) for names in requirement.programs if not any(find_program(name) for name in names)]
