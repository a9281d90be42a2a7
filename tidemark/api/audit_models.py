"""Entries of the audit log as JSON, over HTTP and from `tidemark audit-log --json`."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.state_store.audit_log import AuditRow


class AuditEntryModel(BaseModel):
    """An action: its authenticated author `who`, the address `source`, and the time `at` in UTC."""

    number: int
    at: datetime
    who: str
    source: str
    action: str
    subject: str
    why: str


class AuditLogModel(BaseModel):
    """Some entries, newest first. The next page is before the last entry."""

    entries: list[AuditEntryModel]


def audit_log_model(rows: Sequence[AuditRow]) -> AuditLogModel:
    """The entries of these rows."""
    return AuditLogModel(entries=[_entry(row) for row in rows])


def _entry(row: AuditRow) -> AuditEntryModel:
    entry = row.entry
    return AuditEntryModel(
        number=row.number,
        at=row.at,
        who=entry.who,
        source=entry.source,
        action=entry.action,
        subject=entry.subject,
        why=entry.why,
    )
