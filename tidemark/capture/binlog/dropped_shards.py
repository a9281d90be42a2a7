"""Shards that vanish: as a DROP may be a mistake, a person accepts it before the rows are deleted in the lake."""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from tidemark.capture.binlog.finding import BinlogFinding, FindingKind
from tidemark.capture.binlog.position import Position


class Dropped(NamedTuple):
    """A physical table (`school.orders_3`) that the record at `offset` of the instance's topic drops.

    `position` is where the binlog has it.
    """

    instance: str
    offset: int
    physical: str
    position: Position | None = None


def vanished_shards(
    dropped: Iterable[Dropped], first_changes: Mapping[str, int], accepted: Mapping[str, Collection[int]]
) -> dict[str, BinlogFinding]:
    """Per instance the first drop of a shard that has changes before it, unless it is among the accepted offsets.

    `first_changes` are the offsets of the first changes of shards (`a.school.orders_3`), 0 for those of earlier passes.
    """
    findings: dict[str, BinlogFinding] = {}
    for drop in dropped:
        shard = f"{drop.instance}.{drop.physical}"
        is_known = first_changes.get(shard, drop.offset) < drop.offset
        if is_known and drop.offset not in accepted.get(drop.instance, ()):
            detail = (
                "the table was dropped, and its rows are in the lake: accept it to delete them there as by a TRUNCATE "
                "(earlier snapshots keep them)"
            )
            findings.setdefault(
                drop.instance, BinlogFinding(drop.instance, drop.offset, FindingKind.SHARD_VANISHED, detail, shard)
            )
    return findings
