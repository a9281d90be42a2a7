"""The properties of a binlog that the settings declare."""

from dataclasses import dataclass
from typing import Self

from tidemark.system.settings import Settings


@dataclass(frozen=True)
class BinlogPolicy:
    """`dense_gtids`: every transaction of the server is captured, so a missing number is a missing change.

    It is False if the server has other databases that are not captured.
    """

    dense_gtids: bool = False

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls(dense_gtids=settings.gtids == "dense")


SPARSE = BinlogPolicy()
