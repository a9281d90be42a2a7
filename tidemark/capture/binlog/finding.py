"""A fault of a binlog: its kind, its place and a description."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class FindingKind(StrEnum):
    """The kind of a finding.

    The first five stop reading of the instance's topic, the others hold back a table's tags.
    """

    FILES_MISSING = "files missing"
    GTIDS_MISSING = "transactions missing"
    REGRESSED = "position went back"
    OTHER_LOG = "another log"
    SHARD_VANISHED = "shard vanished"
    NO_ROW_EVENTS = "rows changed without row events"
    QUARANTINED = "changes are quarantined"
    DIFFERS = "rows differ from the source"
    NULLS_REPLACED = "NULL comes as a column's default"
    VALUES_ALTERED = "the connector changes values"
    CHANGES_MISSING = "changes may be missing"

    @property
    def holds_tags(self) -> bool:
        """Whether changes are still merged and only tags are held back."""
        return self in _OF_TAGS


_OF_TAGS: Final = {
    FindingKind.NO_ROW_EVENTS,
    FindingKind.QUARANTINED,
    FindingKind.DIFFERS,
    FindingKind.NULLS_REPLACED,
    FindingKind.VALUES_ALTERED,
    FindingKind.CHANGES_MISSING,
}


@dataclass(frozen=True, order=True)
class BinlogFinding:
    """`offset` is the first record that is not merged; `detail` says what was expected and what arrived.

    With a `shard` (`a.school.orders_3`) only its table is affected, otherwise every table of the instance.
    """

    instance: str
    offset: int
    kind: FindingKind
    detail: str
    shard: str | None = None

    def __str__(self) -> str:
        who = f"shard {self.shard}" if self.shard else f"instance {self.instance}"
        return f"{who}: {self.kind} before offset {self.offset}: {self.detail}"
