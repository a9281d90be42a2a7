"""What the audit found and is not resolved yet, with its ways out: notes in the state store."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Self

from tidemark.capture.audit.audited_range import AuditedRange, Patch
from tidemark.capture.audit.row_comparison import DifferenceKind
from tidemark.state_store.notes import Notes
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.state_store.database import Database

MOST_ROWS: Final = 1_000
NOTES: Final = "audit findings"
"""The kind of the notes: by their ids."""
_SHOWN: Final = 5


@dataclass(frozen=True)
class AuditFinding:
    """Rows of a patch that are not the source's: key's text -> how; of very many `rows` are the first, `count` all.

    `columns` are those in which rows with other values differ, `span` the lowest and highest value of the key's first
    column where that is a number.
    """

    id: str
    patch: Patch
    at: str
    rows: Mapping[str, DifferenceKind]
    count: int
    columns: tuple[str, ...] = ()
    span: tuple[str, str] | None = None

    def seen(self, columns: tuple[str, ...], span: tuple[str, str] | None) -> Self:
        """With where its rows differ, and lie."""
        return replace(self, columns=columns, span=span)

    @property
    def reload(self) -> str:
        """The command that reads the range again."""
        range_ = f" --range {self.span[0]}..{self.span[1]}" if self.span else ""
        return f"tidemark capture reload {self.patch.table} --shard {self.patch.shard}{range_}"

    @property
    def summary(self) -> str:
        """How many rows differ in which way, and the first of them."""
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(Counter(self.rows.values()).items()))
        listed = ", ".join(f"({key})" for key in list(self.rows)[:_SHOWN])
        more = f" and {self.count - _SHOWN} more" if self.count > _SHOWN else ""
        columns = f" in {', '.join(self.columns)}" if self.columns else ""
        return f"{self.count} row{'s' * (self.count > 1)} not the source's: {kinds}{columns}; keys {listed}{more}"

    def to_json(self) -> dict[str, Any]:
        """As it is kept and shown."""
        return {
            "id": self.id,
            "table": self.patch.table,
            "shard": self.patch.shard,
            "range": self.patch.range.to_json(),
            "buckets": list(self.patch.buckets),
            "first_values": list(self.patch.first_values),
            "at": self.at,
            "rows": {key: kind.value for key, kind in self.rows.items()},
            "count": self.count,
            "columns": list(self.columns),
            "span": list(self.span) if self.span else None,
            "reload": self.reload,
        }

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> Self:
        """What `to_json` gave."""
        key_range = AuditedRange.from_json(entry["range"])
        buckets, first_values = tuple(entry["buckets"]), tuple(entry.get("first_values", ()))
        return cls(
            entry["id"],
            Patch(entry["table"], entry["shard"], key_range, buckets, first_values),
            entry["at"],
            {key: DifferenceKind(kind) for key, kind in entry["rows"].items()},
            entry["count"],
            tuple(entry["columns"]),
            (entry["span"][0], entry["span"][1]) if entry["span"] else None,
        )


class AuditFindings:
    """The open ones of a warehouse; one audit at a time writes them."""

    def __init__(self, database: Database) -> None:
        self._notes = Notes(database, NOTES)

    def open(self) -> tuple[AuditFinding, ...]:
        """In the order in which they were entered."""
        findings = [AuditFinding.from_json(json.loads(content)) for content in self._notes.all().values()]
        return tuple(sorted(findings, key=lambda finding: (finding.at, finding.id)))

    def put(self, finding: AuditFinding) -> None:
        """Entered now, or looked at again."""
        self._notes.put({finding.id: json_text(finding.to_json(), ensure_ascii=False)})

    def remove(self, id_: str) -> None:
        """Its rows are the source's now."""
        self._notes.remove(id_)

    def known_rows(self, shard: str) -> frozenset[str]:
        """The keys of a shard's open findings."""
        return frozenset(key for finding in self.open() if finding.patch.shard == shard for key in finding.rows)


def bounded(rows: Mapping[str, DifferenceKind], finding: AuditFinding) -> AuditFinding:
    """The finding of these rows, as many as are kept."""
    return replace(finding, rows=dict(list(rows.items())[:MOST_ROWS]), count=len(rows))
