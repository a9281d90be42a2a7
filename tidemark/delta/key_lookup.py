"""Finds the table's rows that match the keys of a batch, by one job over the key columns of candidate files."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as sf

from tidemark.delta.change_batch import ChangeBatch
from tidemark.delta.errors import KeyNotUniqueError
from tidemark.delta.internals.transaction import OptimisticTransaction
from tidemark.delta.merge_target import MergeTarget
from tidemark.quoting.spark import quote
from tidemark.system.table_location import TableLocation

_FILE, _ROW, _STALE = "_file", "_row", "_stale"
# A broadcast hint, so that a batch with up to this many keys is not sorted and shuffled with the table.
BROADCAST_ROWS = 500_000


@dataclass(frozen=True)
class KeyMatches:
    """`met` has a row for each row of the table with a key of the batch.

    Columns: the key, `_file`, `_row` (position in the file), `_op` of the change, and `_stale`, true if the change is
    not newer than the row.
    """

    met: pa.Table

    @cached_property
    def going(self) -> pa.Table:
        """The rows that are replaced or deleted."""
        return self.met.filter(pc.invert(self.met[_STALE]))

    @cached_property
    def stale(self) -> pa.Table:
        """The rows that stay, because they are as new as the change."""
        return self.met.filter(self.met[_STALE])

    def going_by_file(self) -> dict[str, int]:
        """File name -> number of replaced or deleted rows."""
        counted = self.going.group_by(_FILE).aggregate([([], "count_all")])
        return dict(zip(counted[_FILE].to_pylist(), counted["count_all"].to_pylist(), strict=True))

    def positions(self, file: str) -> list[int]:
        """The positions of replaced or deleted rows in one file."""
        return self._positions[file]

    @cached_property
    def _positions(self) -> dict[str, list[int]]:
        """The positions of all files in one pass, because files may be many."""
        by_file: dict[str, list[int]] = defaultdict(list)
        for file, row in zip(self.going[_FILE].to_pylist(), self.going[_ROW].to_pylist(), strict=True):
            by_file[file].append(row)
        return by_file


def look_up_keys(
    txn: OptimisticTransaction, files: Iterable[Any], batch: ChangeBatch, target: MergeTarget
) -> KeyMatches:
    """Join the keys of `files` with the batch. Raises KeyNotUniqueError if the table has a key more than once."""
    keys = [quote(name) for name in target.key]
    # Only a table with deletion vectors needs positions.
    row = "_metadata.row_index" if txn.has_deletion_vectors else "-1L"
    table = txn.read(files).selectExpr(
        *keys, f"{quote(target.newer)} AS _there", "_metadata.file_name AS _file", f"{row} AS _row"
    )
    changes = batch.changes.selectExpr(*keys, f"{quote(target.newer)} AS _new", "_op")
    if batch.keys.num_rows <= BROADCAST_ROWS:
        changes = sf.broadcast(changes)
    stale = sf.expr("NOT coalesce(_new > _there, false)").alias(_STALE)
    met = table.join(changes, list(target.key)).select(*target.key, _FILE, _ROW, "_op", stale).toArrow()
    _refuse_repeated(target.path, met, target)
    return KeyMatches(met)


def no_matches(batch: ChangeBatch, target: MergeTarget) -> KeyMatches:
    """The result for a batch whose keys are all new."""
    keys = batch.keys.select([*target.key, "_op"]).slice(0, 0)
    columns = {_FILE: pa.string(), _ROW: pa.int64(), _STALE: pa.bool_()}
    for name, kind in columns.items():
        keys = keys.append_column(name, pa.array([], kind))
    return KeyMatches(keys)


def _refuse_repeated(path: TableLocation, met: pa.Table, target: MergeTarget) -> None:
    counted = met.group_by(list(target.key)).aggregate([([], "count_all")])
    repeated = counted.filter(pc.greater(counted["count_all"], 1))
    if repeated.num_rows:
        example = [repeated[name][0].as_py() for name in target.key]
        raise KeyNotUniqueError.in_target(path, target.key, example, repeated.num_rows)
