"""Dropped shards. A DROP may be a mistake, so a person accepts it before the lake's rows are deleted."""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from tidemark.capture.binlog.finding import BinlogFinding, FindingKind
from tidemark.capture.binlog.position import Position


class Dropped(NamedTuple):
    """The record at `offset` of the instance's topic drops a physical table (`school.orders_3`).

    `position` is the record's place in the binlog.
    """

    instance: str
    offset: int
    physical: str
    position: Position | None = None


def vanished_shards(
    dropped: Iterable[Dropped], first_changes: Mapping[str, int], accepted: Mapping[str, Collection[int]]
) -> dict[str, BinlogFinding]:
    """The first drop of a shard with earlier changes, by instance, unless its offset is accepted.

    `first_changes` has the offset of the first change by shard (`a.school.orders_3`), 0 for changes of earlier passes.
    """
    findings: dict[str, BinlogFinding] = {}
    for drop in dropped:
        shard = f"{drop.instance}.{drop.physical}"
        is_known = first_changes.get(shard, drop.offset) < drop.offset
        if is_known and drop.offset not in accepted.get(drop.instance, ()):
            detail = (
                "the table was dropped, and its rows are in the lake: accept it to delete them there, like a TRUNCATE "
                "(earlier snapshots keep them)"
            )
            findings.setdefault(
                drop.instance, BinlogFinding(drop.instance, drop.offset, FindingKind.SHARD_VANISHED, detail, shard)
            )
    return findings
