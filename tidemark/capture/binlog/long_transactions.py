"""Transactions whose records lie in more than one minute. The end of a slice must not split one."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidemark.capture.binlog.columnar_binlog import Binlog
from tidemark.capture.binlog.consecutive_records import MINUTE_MS


class LongTransaction(NamedTuple):
    """The records of one GTID, at offsets `first` to `last`, with their oldest and newest event time (epoch ms).

    The newest time stands for the time of the commit, which no record has: a row event has its statement's time.
    """

    first: int
    last: int
    oldest_ms: int
    newest_ms: int
    origin: str
    sequence: int

    def __contains__(self, offset: object) -> bool:
        """Whether a record at that offset belongs to the transaction."""
        return isinstance(offset, int) and self.first <= offset <= self.last


def long_transactions(binlog: Binlog) -> tuple[LongTransaction, ...]:
    """The long transactions by offset, and always the very first one, however short."""
    records = binlog.records
    if not len(records):
        return ()
    starts = np.flatnonzero(_begins(records))
    times = records["event_ms"].to_numpy()
    oldest, newest = np.minimum.reduceat(times, starts), np.maximum.reduceat(times, starts)
    is_long = oldest // MINUTE_MS != newest // MINUTE_MS
    # The first transaction may have begun before these records.
    is_long[0] = True
    long = np.flatnonzero(is_long)
    ends = np.append(starts[1:], len(records)) - 1
    offsets = records["offset"].to_numpy()
    firsts = records.select(["origin", "sequence"]).take(pa.array(starts[long])).to_pylist()
    return tuple(
        LongTransaction(int(offsets[starts[at]]), int(offsets[ends[at]]), int(oldest[at]), int(newest[at]), **gtid)
        for at, gtid in zip(long, firsts, strict=True)
        if gtid["origin"] is not None
    )


def _begins(records: pa.Table) -> npt.NDArray[np.bool_]:
    """Whether a record has another GTID than the one before it, or none."""
    origins = records["origin"].combine_chunks().dictionary_encode().indices
    origin = origins.fill_null(-1).to_numpy(zero_copy_only=False)
    sequence = records["sequence"].fill_null(0).to_numpy()
    same = (origin[1:] == origin[:-1]) & (sequence[1:] == sequence[:-1]) & (origin[1:] >= 0)
    return np.append([True], ~same)
