"""Count and checksum of a group of rows.

CRC-32 is linear: the exclusive or of two rows' stays the same when they swap a value. Multiplied modulo a prime it is
linear no more. Two groups that differ have the same checksum once in four thousand million times.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

_FACTOR: Final = 2_147_483_629
_PRIME: Final = 4_294_967_291


class GroupChecksum(NamedTuple):
    """Of a bucket's rows."""

    rows: int
    checksum: int


Groups = Mapping[int, GroupChecksum]


def checksum_sql(row_text: str) -> str:
    """SQL of the checksum of a group's rows, the same at the source and in Spark; it stays below 2**63."""
    return f"BIT_XOR(MOD(CRC32({row_text}) * {_FACTOR}, {_PRIME}))"


def differing(source: Groups, lake: Groups) -> tuple[int, ...]:
    """The buckets whose rows are not the same."""
    return tuple(sorted(bucket for bucket in {*source, *lake} if source.get(bucket) != lake.get(bucket)))
