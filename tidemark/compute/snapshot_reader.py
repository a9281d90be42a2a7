"""Slices for exploration: `snapshot("ods_orders", "2026-01-03")` in Python and in SQL.

snapshots = Snapshots.of(Runtime(load_warehouse(Settings.load())))
snapshots.read("ods_orders", "2026-01-03").count()
snapshots.sql("SELECT count(*) FROM snapshot('ods_orders', '2026-01-03') WHERE amount > 100")
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Self

from tidemark.compute.errors import InputMissingError
from tidemark.compute.input_views import Inputs
from tidemark.compute.past_slices import PastSlices
from tidemark.compute.results_table import results_as_arrow
from tidemark.dependency_model.entity.dependency import COMPLETED
from tidemark.dependency_model.lineage.sql_text import code_of
from tidemark.dependency_model.readiness.slice_manifest import UsedSlice
from tidemark.dependency_model.slice import Slice
from tidemark.quoting.spark import quote
from tidemark.warehouse.reserved_names import RESULTS_TABLE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from pyspark.sql import DataFrame, SparkSession

    from tidemark.compute.runtime import Runtime

FUNCTION: Final = "snapshot"
_CALL: Final = re.compile(rf"\b{FUNCTION}\s*\(\s*'([^'\\]*)'\s*,\s*'([^'\\]*)'\s*\)", re.IGNORECASE)


class Snapshots:
    """The tables of a warehouse at their slices, in a separate session."""

    def __init__(self, spark: SparkSession, runtime: Runtime) -> None:
        self._session = spark.newSession()
        self._inputs = Inputs(self._session, runtime.warehouse, runtime.registry)
        self._past, self._results, self._runtime = PastSlices(self._session, runtime), runtime.results, runtime

    @classmethod
    def of(cls, runtime: Runtime) -> Self:
        """The reader with the process's Spark session."""
        return cls(runtime.spark, runtime)

    def read(self, entity: str, slice_key: str) -> DataFrame:
        """The rows of a slice, with `dt` (and `hour`) last; for a captured table, all its rows and late changes.

        Raises SnapshotMissingError, InputMissingError for a computed slice that is not completed, and RowsMissingError.
        """
        slice_ = Slice.parse(f"{entity}@{slice_key}")
        if self._runtime.warehouse.is_snapshot(entity):
            return self._inputs.snapshots([slice_])
        current = self._runtime.state.current(slice_)
        if current is None or COMPLETED not in current.status.states:
            raise InputMissingError.of(slice_, [slice_])
        self._inputs.forget()
        return self._inputs.rows_of([UsedSlice(slice_, current.status.generation)])

    def read_as_of(self, entity: str, slice_key: str, when: datetime) -> DataFrame:
        """A slice as it was at a past instant (aware), also of a computed table: the version that was reported by then.

        Raises errors of PastSlices, for example if the version is not kept.
        """
        slice_ = Slice(entity, slice_key)
        past = self._past.read(slice_, when)
        return self._inputs.snapshots([slice_]) if past is None else past

    def quality_results(self, entity: str | None = None, most: int = 1_000_000) -> DataFrame:
        """The results of rules, the most recent first. Also creates a view with this name."""
        told = self._session.createDataFrame(results_as_arrow(self._results.newest(entity, most=most)))
        told.createOrReplaceTempView(RESULTS_TABLE)
        return told

    def sql(self, text: str) -> DataFrame:
        """The result of a query in which `snapshot('entity', 'slice')` is a table. Raises SnapshotMissingError."""
        parts, at = [], 0
        for start, end, entity, slice_key in _calls(text):
            view = f"{entity}@{slice_key}"
            self.read(entity, slice_key).createOrReplaceTempView(quote(view))
            parts += [text[at:start], quote(view)]
            at = end
        return self._session.sql("".join([*parts, text[at:]]))


def _calls(text: str) -> Iterator[tuple[int, int, str, str]]:
    """Start, end and arguments of each call in the text, outside of strings and comments."""
    code = code_of(text)
    for match in _CALL.finditer(text):
        if code[match.start()] != " ":
            yield match.start(), match.end(), match[1], match[2]
