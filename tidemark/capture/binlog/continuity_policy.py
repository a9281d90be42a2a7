"""What may be expected of a binlog."""

from dataclasses import dataclass


@dataclass(frozen=True)
class BinlogPolicy:
    """`dense_gtids`: every transaction of the server is captured, so a missing number is a missing change.

    It is not where other databases of the server write, too, and are left out.
    """

    dense_gtids: bool = False


SPARSE = BinlogPolicy()
