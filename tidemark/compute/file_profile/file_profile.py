"""The profile of a slice from its files: each column is read and sketched separately, and no rows are assembled.

Spark's aggregates (tidemark.compute.profile_aggregates) measure the same for rows that are not in files. They cost at
least a hundred nanoseconds a value, ten times the cost here.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Final

import pyarrow.parquet as pq
from pyspark.sql.types import StringType

from tidemark.compute.file_profile.column_sketches import column_of
from tidemark.compute.profile_aggregates import MOST_SKETCH_BYTES
from tidemark.dependency_model.profile.slice_profile import SliceProfile, merge, without_sketches_over

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import types

_BATCH_ROWS: Final = 65_536
_BUFFER_BYTES: Final = 1 << 20
"""The buffer for each column. Without it, Arrow holds a whole row group of several hundred megabytes."""


def profile_of_files(files: Sequence[Path], fields: Sequence[types.StructField]) -> SliceProfile:
    """The profile of all rows in Parquet files with these columns. Raises errors of Arrow and the disk.

    Times must be written in UTC, as the Spark session writes them.
    """
    with ThreadPoolExecutor(max(1, min(len(files), os.cpu_count() or 1))) as threads:
        parts = list(threads.map(partial(_profile, fields=fields), files))
    filled = [part for part in parts if part.rows]
    return without_sketches_over(merge(filled), MOST_SKETCH_BYTES) if filled else SliceProfile(0)


def can_be_read(fields: Sequence[types.StructField]) -> bool:
    """Whether equal texts have equal bytes: a collation may treat different texts as equal."""
    texts = [field.dataType for field in fields if isinstance(field.dataType, StringType)]
    return all(kind == StringType() for kind in texts)


def _profile(path: Path, fields: Sequence[types.StructField]) -> SliceProfile:
    texts = [field.name for field in fields if isinstance(field.dataType, StringType)]
    columns = {field.name: column_of(field) for field in fields}
    with pq.ParquetFile(
        path, read_dictionary=texts, coerce_int96_timestamp_unit="us", pre_buffer=False, buffer_size=_BUFFER_BYTES
    ) as file:
        # A VOID column is not in any file.
        there = [name for name in columns if name in file.schema_arrow.names]
        for batch in file.iter_batches(_BATCH_ROWS, columns=there, use_threads=False):
            for name in there:
                columns[name].add(batch.column(name))
        return SliceProfile(file.metadata.num_rows, tuple(column.profile() for column in columns.values()))
