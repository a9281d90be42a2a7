"""A partition by value, and its columns."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from tidemark.olap.errors import OlapPartitionError

PartitionValue = str | int | dt.date
Partition = Mapping[str, PartitionValue]


def describe(partition: Partition) -> str:
    """`dt=2026-03-29/hour=05`, or `the whole table` for the empty partition."""
    return "/".join(f"{column}={value}" for column, value in partition.items()) or "the whole table"


def with_partition_columns(table: str, data: pa.Table, partition: Partition) -> pa.Table:
    """`data` with a column for each partition key, appended if it is missing.

    Raises OlapPartitionError if `data` has such a column with another value: published, these rows would survive the
    next replacement of the partition.
    """
    for column, value in partition.items():
        if column in data.column_names:
            _check_all_rows(table, data, column, value)
        else:
            data = data.append_column(column, pa.repeat(pa.scalar(value), data.num_rows))
    return data


def _check_all_rows(table: str, data: pa.Table, column: str, value: PartitionValue) -> None:
    present = data.column(column)
    try:
        wanted = pa.scalar(value).cast(present.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise OlapPartitionError(table, column, str(value), f"a column of type {present.type}") from None
    strangers = pc.unique(present.filter(pc.invert(pc.fill_null(pc.equal(present, wanted), fill_value=False))))
    if len(strangers):
        examples = ", ".join(str(stranger) for stranger in strangers.to_pylist()[:3])
        raise OlapPartitionError(table, column, str(value), examples)
