"""Finds rows of a shard that records of the topic delete. A row that the lake lacks may be one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as sf

from tidemark.capture.apply.image_values import ImageValues
from tidemark.capture.errors import ChangeFileError
from tidemark.capture.schema.ddl.statement import undeclared
from tidemark.capture.schema.row_encodings_of_scan import row_encodings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

    from tidemark.capture.audit.audited_range import Patch
    from tidemark.capture.audit.compared_shard import ComparedShard
    from tidemark.capture.schema.table_columns import TableColumns
    from tidemark.capture.source.intake import Intake
    from tidemark.capture.source.scan import Scan
    from tidemark.capture.source_table import SourceTable

_MOST_RECORDS: Final = 5_000_000
"""The most records of an instance to read. Looks that need earlier records are repeated later."""


@dataclass(frozen=True)
class Deletions:
    """By key text, the offset of the last record from `start` on that deletes the row; None if unknown."""

    start: int
    last: Mapping[str, int] | None

    def since(self, offset: int) -> frozenset[str] | None:
        """The keys that were deleted from this offset on; None if unknown."""
        if self.last is None or offset < self.start:
            return None
        return frozenset(key for key, last in self.last.items() if last >= offset)


class DeletedKeys:
    """Reads deletions from the topics, or files, that capture reads."""

    def __init__(self, spark: SparkSession, intake: Intake, source: SourceTable) -> None:
        self._spark, self._intake, self._source = spark, intake, source

    def between(self, patch: Patch, shard: ComparedShard, columns: TableColumns, start: int, end: int) -> Deletions:
        """The rows of the patch's shard that records with offsets in `[start, end)` delete.

        The result is unknown if the records no longer exist, or a statement changed rows without row events.
        """
        start = max(start, end - _MOST_RECORDS)
        last: dict[str, int] = {}
        offset = start
        while offset < end:
            due = self._intake.due({patch.instance: offset}, {}, 1.0)
            if due.problems or not due.units:
                return Deletions(start, None)
            try:
                scan = self._intake.scan(self._spark, due, [self._source], {patch.instance: offset})
            except ChangeFileError:
                return Deletions(start, None)
            try:
                if _has_statement(scan, patch):
                    return Deletions(start, None)
                last |= self._last(scan, patch, shard, columns, start)
                offset, before = scan.end_offset(patch.instance, offset), offset
            finally:
                scan.close()
            if offset <= before:
                return Deletions(start, None)
        return Deletions(start, last)

    def _last(
        self, scan: Scan, patch: Patch, shard: ComparedShard, columns: TableColumns, start: int
    ) -> dict[str, int]:
        is_deletion = (
            (sf.col("table") == self._source.name)
            & (sf.col("instance") == patch.instance)
            & (sf.col("physical") == patch.physical)
            & (sf.col("op") == "d")
            & (sf.col("offset") >= start)
        )
        forms = row_encodings(columns, [(patch.instance, patch.physical)], {patch.instance: start})
        values = ImageValues(forms, with_text=scan.with_text)
        records = self._spark.table(f"global_temp.{scan.view}").where(is_deletion)
        key = (values.value(name, "image").alias(name) for name in self._source.key)
        rows = values.parse_images(records, None).select(*key, sf.col("offset").alias("_offset"))
        by_key = rows.groupBy(sf.expr(shard.key_texts[1]).alias("key")).agg(sf.max("_offset").alias("last"))
        return {row["key"]: row["last"] for row in by_key.collect()}


def _has_statement(scan: Scan, patch: Patch) -> bool:
    return any(
        effect.physical.lower() == patch.physical.lower() or effect.physical.endswith(".*")
        for statement in scan.summary.statements
        if statement.instance == patch.instance
        for effect in statement.effects(undeclared, undeclared)
    )
