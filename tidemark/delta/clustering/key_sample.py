"""A sample of the keys from every file, in proportion to its rows, read directly from column chunks.

Only the keys' chunks of each row group are read, and rows are drawn from them at random. So files in the data's order
(by time, by key) contribute like all others. Spark reads files with a deletion vector, because it applies the vector.
"""

import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import functions as sf

from tidemark.delta.clustering.clusterable_columns import ClusterColumn
from tidemark.delta.clustering.file_groups import FileGroup
from tidemark.delta.internals.transaction import OptimisticTransaction
from tidemark.delta.live_file import LiveFile
from tidemark.quoting.spark import quote
from tidemark.storage.stored_files import stored_files
from tidemark.system.table_location import TableLocation

# The limit of the driver's memory: these rows' keys, and one row group's keys for each thread.
MOST_ROWS = 400_000
_LEAST_ROWS, _ROWS_A_FILE = 20_000, 800
_THREADS = 4
# The most row groups of a file that are read; with more, every n-th.
_MOST_ROW_GROUPS = 64


def sample_size(wanted_files: int) -> int:
    """The number of rows that gives output files with sizes within a few per cent."""
    return min(MOST_ROWS, max(_LEAST_ROWS, _ROWS_A_FILE * wanted_files))


def sample_keys(
    txn: OptimisticTransaction, root: TableLocation, group: FileGroup, columns: Sequence[ClusterColumn], rows: int
) -> pa.Table:
    """About `rows` rows of the group's keys, with the columns' names in the table."""
    whole = sum(file.rows or 0 for file in group.files)
    share = min(1.0, rows / whole) if whole else 1.0
    seen = [file for file in group.files if not file.hidden_rows and not _is_elsewhere(file)]
    hiding = [file for file in group.files if file.hidden_rows or _is_elsewhere(file)]
    with ThreadPoolExecutor(_THREADS) as pool:
        tables = list(pool.map(lambda file: _of_file(root, file, columns, share), seen))
    if hiding:
        tables.append(_by_spark(txn, hiding, columns, share))
    return pa.concat_tables(tables)


def _is_elsewhere(file: LiveFile) -> bool:
    return ":" in str(file.described["path"])


def _of_file(root: TableLocation, file: LiveFile, columns: Sequence[ClusterColumn], share: float) -> pa.Table:
    parquet = pq.ParquetFile(
        stored_files(root).arrow_source(unquote(str(file.described["path"]))),
        coerce_int96_timestamp_unit="us",
        pre_buffer=False,
    )
    every = -(-parquet.num_row_groups // _MOST_ROW_GROUPS) or 1
    # The file's name is the seed, so the same table gives the same sample.
    chance = random.Random(file.name)  # noqa: S311 - a sample, no secret
    parts = [
        _of_row_group(parquet, at, columns, share * every, chance) for at in range(0, parquet.num_row_groups, every)
    ]
    return pa.concat_tables(parts) if parts else _empty(columns)


def _of_row_group(
    parquet: pq.ParquetFile, number: int, columns: Sequence[ClusterColumn], share: float, chance: random.Random
) -> pa.Table:
    there = set(parquet.schema_arrow.names)
    table = parquet.read_row_group(
        number, columns=[column.physical for column in columns if column.physical in there], use_threads=False
    )
    count = parquet.metadata.row_group(number).num_rows
    exact = min(1.0, share) * count
    wanted = int(exact) + (chance.random() < exact % 1)
    rows = pa.array(np.sort(np.random.default_rng(chance.getrandbits(32)).choice(count, wanted, replace=False)))
    taken = {column.name: _as_type_of_today(table, column, rows) for column in columns}
    return pa.table(taken)


def _as_type_of_today(table: pa.Table, column: ClusterColumn, rows: pa.Array) -> pa.ChunkedArray:
    """The column in its current type. A file from before the column was added has NULL."""
    if column.physical not in table.column_names:
        return pa.chunked_array([pa.nulls(len(rows), column.arrow_type)])
    values = _as_takeable(table[column.physical]).take(rows)
    if pa.types.is_timestamp(column.arrow_type):
        values = pc.cast(values, pa.timestamp("us"))
        values = values if column.arrow_type.tz is None else pc.assume_timezone(values, "UTC")
    return values.cast(column.arrow_type)


def _as_takeable(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column in a type with `take`. Arrow has none for views, which files of delta-rs's DELETE declare."""
    as_stored = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}.get(values.type)
    return values if as_stored is None else values.cast(as_stored)


def _empty(columns: Sequence[ClusterColumn]) -> pa.Table:
    return pa.table({column.name: pa.array([], column.arrow_type) for column in columns})


def _by_spark(
    txn: OptimisticTransaction, files: Sequence[LiveFile], columns: Sequence[ClusterColumn], share: float
) -> pa.Table:
    rows = txn.read([file.handle for file in files]).select(*(sf.col(quote(column.name)) for column in columns))
    sample = rows.sample(share, seed=1).toArrow()
    return pa.table({column.name: sample[column.name].cast(column.arrow_type) for column in columns})
