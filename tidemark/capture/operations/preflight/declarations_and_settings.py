"""Checks declarations and settings without a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.capture.physical_tables_claimed_twice import shared_tables
from tidemark.capture.source_table import instances_of
from tidemark.system.check_finding import Finding

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from tidemark.capture.heartbeat.source_databases import HeartbeatDatabase
    from tidemark.capture.source_table import SourceTable


def tables(sources: Sequence[SourceTable]) -> list[Finding]:
    """Whether each physical table belongs to one logical table."""
    shared = [
        Finding("captured tables", "problem", f"{error.where}: {error.found}", error.hint or "")
        for error in shared_tables(sources)
    ]
    names = ", ".join(instances_of(sources)) or "none"
    return shared or [Finding("captured tables", "ok", f"{len(sources)}, on the instances {names}")]


def canal(by_canal: Collection[str], sources: Sequence[SourceTable]) -> list[Finding]:
    """Whether the instances of `TIDEMARK_CANAL` are captured at all."""
    unknown = sorted(set(by_canal) - set(instances_of(sources)))
    if not unknown:
        return []
    to_do = f"correct TIDEMARK_CANAL: instances are {', '.join(instances_of(sources))}"
    return [Finding("TIDEMARK_CANAL", "problem", f"no entity is captured from {', '.join(unknown)}", to_do)]


def addresses(databases: Sequence[HeartbeatDatabase], sources: Sequence[SourceTable]) -> list[Finding]:
    """Whether each captured instance has an address of its own, and each address an instance."""
    instances = instances_of(sources)
    named = [database.instance for database in databases]
    return [
        *(_no_heartbeats(name) for name in instances if name not in named),
        *(_not_captured(name, instances) for name in named if name not in instances),
        *_same_server(databases),
    ]


def _no_heartbeats(instance: str) -> Finding:
    to_do = f"add {instance}=mysql://user:password@host:3306/database to TIDEMARK_DATABASES"
    problem = "no address, so no heartbeats are written: an idle instance cannot be distinguished from a broken one"
    return Finding(f"database {instance}", "warning", problem, to_do)


def _not_captured(instance: str, instances: Sequence[str]) -> Finding:
    to_do = f"correct TIDEMARK_DATABASES, or `instances` in an entity's source; instances are {', '.join(instances)}"
    return Finding(f"database {instance}", "warning", "no entity is captured from it", to_do)


def _same_server(databases: Sequence[HeartbeatDatabase]) -> list[Finding]:
    """Two instances on one server would capture every physical table twice."""
    first: dict[tuple[str, int, str], str] = {}
    findings = []
    for database in databases:
        other = first.setdefault((database.host, database.port, database.name), database.instance)
        if other != database.instance:
            place = f"{database.host}:{database.port}/{database.name}"
            said = f"{place} is also instance {other}: its tables would be captured twice"
            findings.append(Finding(f"database {database.instance}", "problem", said, "correct TIDEMARK_DATABASES"))
    return findings
