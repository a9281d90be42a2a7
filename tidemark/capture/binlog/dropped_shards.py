"""Shards that vanish: their rows would stay in the lake for ever, and every snapshot would still have them."""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from tidemark.capture.binlog.finding import BinlogFinding, FindingKind


class Dropped(NamedTuple):
    """A physical table (`school.orders_3`) that the record at `offset` of the instance's topic drops."""

    instance: str
    offset: int
    physical: str


def vanished(
    dropped: Iterable[Dropped], first_changes: Mapping[str, int], accepted: Mapping[str, Collection[int]]
) -> dict[str, BinlogFinding]:
    """Per instance the first drop of a shard that has changes before it, unless it is among the accepted offsets.

    `first_changes` are the offsets of the first changes of shards (`a.school.orders_3`), 0 for those of earlier passes.
    """
    found: dict[str, BinlogFinding] = {}
    for one in dropped:
        shard = f"{one.instance}.{one.physical}"
        is_known = first_changes.get(shard, one.offset) < one.offset
        if is_known and one.offset not in accepted.get(one.instance, ()):
            detail = "the table was dropped, its rows are in the lake"
            found.setdefault(
                one.instance, BinlogFinding(one.instance, one.offset, FindingKind.SHARD_VANISHED, detail, shard)
            )
    return found
