"""What may be expected of a binlog."""

from dataclasses import dataclass
from typing import Self

from tidemark.system.settings import Settings


@dataclass(frozen=True)
class BinlogPolicy:
    """`dense_gtids`: every transaction of the server is captured, so a missing number is a missing change.

    It is not where other databases of the server write, too, and are left out.
    """

    dense_gtids: bool = False

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """What the settings say."""
        return cls(dense_gtids=settings.gtids == "dense")


SPARSE = BinlogPolicy()
