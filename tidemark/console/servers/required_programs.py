"""Programs that the servers need, and the missing ones."""

from __future__ import annotations

from dataclasses import dataclass

from tidemark.system.installed_programs import find_program


@dataclass(frozen=True)
class RequiredProgram:
    """A server and its programs (each entry has alternatives; one is enough)."""

    component: str
    programs: tuple[tuple[str, ...], ...]
    install: str


MARIADB = RequiredProgram(
    "MariaDB", (("mariadbd",), ("mariadb-install-db",), ("mariadb-binlog",)), "install the package mariadb-server"
)
KAFKA = RequiredProgram("Kafka", (("java",), ("mvn",)), "install Java 17 or later and Maven 3.8 or later")


def missing_programs(requirement: RequiredProgram) -> list[str]:
    """Required programs without an installed alternative."""
    return [" or ".join(names) for names in requirement.programs if not any(find_program(name) for name in names)]
