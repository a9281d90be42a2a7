"""Records and resolves findings, and sends capture a hold entry for each shard with findings."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tidemark.capture.audit.findings import AuditFinding, AuditFindings, bounded
from tidemark.capture.audit.hold_entries import HoldEntries, HoldEntry
from tidemark.capture.audit.row_comparison import DifferenceKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tidemark.capture.audit.audited_range import Patch
    from tidemark.capture.audit.row_comparison import RowLook
    from tidemark.capture.audit.shard_walk import AuditedShard
    from tidemark.state_store.database import Database


class FindingBook:
    """Writes the hold entry before the finding.

    A crash in between leaves a hold, and the next cycle finds the rows again.
    """

    def __init__(self, database: Database) -> None:
        self._findings, self._entries = AuditFindings(database), HoldEntries(database)

    def open(self) -> tuple[AuditFinding, ...]:
        """The findings that are not resolved."""
        return self._findings.open()

    def known_rows(self, shard: str) -> frozenset[str]:
        """The keys of a shard's open findings."""
        return self._findings.known_rows(shard)

    def add(self, shard: AuditedShard, patch: Patch, rows: Mapping[str, DifferenceKind], look: RowLook) -> AuditFinding:
        """Record rows that two looks found, and hold the shard's tags."""
        finding = bounded(rows, AuditFinding(uuid.uuid4().hex, patch, datetime.now(UTC).isoformat(), {}, 0))
        finding = finding.seen(_columns(shard, rows, look), _span(shard, rows))
        self._tell(patch, [*self._of_shard(patch.shard), finding])
        self._findings.put(finding)
        return finding

    def resolve(self, finding: AuditFinding) -> AuditFinding:
        """Remove a finding whose rows are now right. With a shard's last finding its hold ends."""
        self._tell(finding.patch, [other for other in self._of_shard(finding.patch.shard) if other.id != finding.id])
        self._findings.remove(finding.id)
        return finding

    def _of_shard(self, shard: str) -> list[AuditFinding]:
        return [finding for finding in self._findings.open() if finding.patch.shard == shard]

    def _tell(self, patch: Patch, findings: Sequence[AuditFinding]) -> None:
        id_ = uuid.uuid4().hex
        if not findings:
            self._entries.add(HoldEntry(id_, patch.table, patch.shard, "equal"))
            return
        first = findings[0]
        more = f"; and {sum(other.count for other in findings[1:])} in other ranges" if findings[1:] else ""
        detail = f"{first.summary}{more}; {first.reload} reads them again"
        self._entries.add(HoldEntry(id_, patch.table, patch.shard, "differs", detail))


def _columns(shard: AuditedShard, rows: Mapping[str, DifferenceKind], look: RowLook) -> tuple[str, ...]:
    """The columns with different values in the rows that differ."""
    pairs = [(look.source[key], look.lake[key][0].text) for key, kind in rows.items() if kind is DifferenceKind.DIFFERS]
    names = {name for pair in pairs for name in shard.compared.differing_columns(*pair)}
    return tuple(column.name for column in shard.compared.columns if column.name in names)


def _span(shard: AuditedShard, keys: Iterable[str]) -> tuple[str, str] | None:
    """The lowest and highest value of the key's first column, for a reload; None if it is not an integer."""
    values = shard.compared.first_values(keys)
    return (str(values[0]), str(values[-1])) if values else None
