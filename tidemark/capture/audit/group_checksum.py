"""Count and checksum of a group of rows.

CRC-32 is linear: if two rows swap a value, the XOR of their checksums stays the same. A multiplication modulo a prime
removes the linearity. Two groups that differ have the same checksum once in 4 * 10**9 cases.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

_FACTOR: Final = 2_147_483_629
_PRIME: Final = 4_294_967_291


class GroupChecksum(NamedTuple):
    """Count and checksum of a bucket's rows."""

    rows: int
    checksum: int


Groups = Mapping[int, GroupChecksum]


def checksum_sql(row_text: str) -> str:
    """SQL of the checksum of a group's rows, the same at the source and in Spark; it is below 2**63."""
    return f"BIT_XOR(MOD(CRC32({row_text}) * {_FACTOR}, {_PRIME}))"


def differing(source: Groups, lake: Groups) -> tuple[int, ...]:
    """The buckets whose count or checksum differs, sorted."""
    return tuple(sorted(bucket for bucket in {*source, *lake} if source.get(bucket) != lake.get(bucket)))
