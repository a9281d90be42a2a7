"""Questions about declarations and settings alone: nobody is asked over a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.capture.source_table import instances_of
from tidemark.capture.table_ownership import shared_tables
from tidemark.system.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from tidemark.capture.heartbeat.databases import HeartbeatDatabase
    from tidemark.capture.source_table import SourceTable


def tables(sources: Sequence[SourceTable]) -> list[Finding]:
    """Whether each physical table belongs to one logical table."""
    shared = [
        Finding("captured tables", "problem", f"{one.where}: {one.found}", one.hint or "")
        for one in shared_tables(sources)
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
    named = [one.instance for one in databases]
    return [
        *(_no_heartbeats(name) for name in instances if name not in named),
        *(_not_captured(name, instances) for name in named if name not in instances),
        *_same_server(databases),
    ]


def _no_heartbeats(instance: str) -> Finding:
    to_do = f"add {instance}=mysql://user:password@host:3306/database to TIDEMARK_DATABASES"
    found = "no address: nobody here writes its heartbeats, which tell an idle instance from a broken one"
    return Finding(f"database {instance}", "warning", found, to_do)


def _not_captured(instance: str, instances: Sequence[str]) -> Finding:
    to_do = f"correct TIDEMARK_DATABASES, or `instances` in an entity's source; instances are {', '.join(instances)}"
    return Finding(f"database {instance}", "warning", "no entity is captured from it", to_do)


def _same_server(databases: Sequence[HeartbeatDatabase]) -> list[Finding]:
    """Two instances that are one server would have every physical table twice."""
    first: dict[tuple[str, int, str], str] = {}
    found = []
    for one in databases:
        other = first.setdefault((one.host, one.port, one.name), one.instance)
        if other != one.instance:
            said = f"{one.host}:{one.port}/{one.name} is instance {other}, too: its tables would be there twice"
            found.append(Finding(f"database {one.instance}", "problem", said, "correct TIDEMARK_DATABASES"))
    return found
