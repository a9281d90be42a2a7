"""Which transactions pass the end of a minute."""

import pyarrow as pa

from tidemark.capture.binlog.columnar_binlog import Binlog
from tidemark.capture.binlog.long_transactions import LongTransaction, long_transactions

MINUTE = 60_000


def binlog(*records: tuple[int, int, str | None, int]) -> Binlog:
    """(offset, event time, origin, sequence of the GTID)."""
    names = ("offset", "event_ms", "origin", "sequence")
    types = (pa.int64(), pa.int64(), pa.string(), pa.int64())
    columns = zip(names, zip(*records, strict=True), types, strict=True)
    return Binlog(pa.table({name: pa.chunked_array([pa.array(values, kind)]) for name, values, kind in columns}))


def test_a_transaction_over_two_minutes_is_found_with_its_records_and_times() -> None:
    records = binlog(
        (1, 10, "1", 7), (3, 20, "1", 8), (4, MINUTE + 5, "1", 8), (6, MINUTE + 3, "1", 8), (7, MINUTE + 9, "1", 9)
    )
    first, transaction = long_transactions(records)
    assert first == LongTransaction(1, 1, 10, 10, "1", 7)
    assert transaction == LongTransaction(3, 6, 20, MINUTE + 5, "1", 8)
    assert [offset in transaction for offset in (2, 3, 6, 7)] == [False, True, True, False]


def test_two_transactions_of_one_number_are_of_two_origins() -> None:
    (first,) = long_transactions(binlog((1, 10, "1", 7), (2, MINUTE, "2", 7)))
    assert (first.first, first.last) == (1, 1)


def test_records_without_a_gtid_are_not_a_transaction() -> None:
    assert long_transactions(binlog((1, 10, None, 0), (2, MINUTE, None, 0))) == ()


def test_an_empty_binlog_has_none() -> None:
    assert long_transactions(Binlog(binlog((1, 10, "1", 7)).records.slice(0, 0))) == ()
