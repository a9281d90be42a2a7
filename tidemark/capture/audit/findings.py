"""Open findings of the audit, with the command that repairs each: notes in the state store."""

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
"""The kind of the notes; a note's name is the finding's id."""
_SHOWN: Final = 5


@dataclass(frozen=True)
class AuditFinding:
    """Rows of a patch that differ from the source: the kind of difference by key text.

    `rows` has at most `MOST_ROWS` rows, `count` is the number of all. `columns` are the columns in which rows differ.
    `span` is the lowest and highest value of the key's first column, if it is an integer.
    """

    id: str
    patch: Patch
    at: str
    rows: Mapping[str, DifferenceKind]
    count: int
    columns: tuple[str, ...] = ()
    span: tuple[str, str] | None = None

    def seen(self, columns: tuple[str, ...], span: tuple[str, str] | None) -> Self:
        """The finding with its differing columns and its span."""
        return replace(self, columns=columns, span=span)

    @property
    def reload(self) -> str:
        """The command that reads the range again."""
        range_ = f" --range {self.span[0]}..{self.span[1]}" if self.span else ""
        return f"tidemark capture reload {self.patch.table} --shard {self.patch.shard}{range_}"

    @property
    def summary(self) -> str:
        """The number of rows of each kind of difference, and the first keys."""
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(Counter(self.rows.values()).items()))
        listed = ", ".join(f"({key})" for key in list(self.rows)[:_SHOWN])
        more = f" and {self.count - _SHOWN} more" if self.count > _SHOWN else ""
        columns = f" in {', '.join(self.columns)}" if self.columns else ""
        return f"{self.count} row{'s' * (self.count > 1)} not the source's: {kinds}{columns}; keys {listed}{more}"

    def to_json(self) -> dict[str, Any]:
        """The stored form, which commands also show."""
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
        """The finding of a value from `to_json`."""
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
    """The open findings of a warehouse. Only one audit writes them at a time."""

    def __init__(self, database: Database) -> None:
        self._notes = Notes(database, NOTES)

    def open(self) -> tuple[AuditFinding, ...]:
        """The open findings, oldest first."""
        findings = [AuditFinding.from_json(json.loads(content)) for content in self._notes.all().values()]
        return tuple(sorted(findings, key=lambda finding: (finding.at, finding.id)))

    def put(self, finding: AuditFinding) -> None:
        """Store a new or changed finding."""
        self._notes.put({finding.id: json_text(finding.to_json(), ensure_ascii=False)})

    def remove(self, id_: str) -> None:
        """Remove a finding whose rows are now right."""
        self._notes.remove(id_)

    def known_rows(self, shard: str) -> frozenset[str]:
        """The keys of a shard's open findings."""
        return frozenset(key for finding in self.open() if finding.patch.shard == shard for key in finding.rows)


def bounded(rows: Mapping[str, DifferenceKind], finding: AuditFinding) -> AuditFinding:
    """The finding with the count of all rows, and the first `MOST_ROWS` of them."""
    return replace(finding, rows=dict(list(rows.items())[:MOST_ROWS]), count=len(rows))
