"""What one pass over records found: cached, and summed up for the planner, wherever the records come from."""

import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as sf

from resources.capture.column_types import TableSchema, dropped_tables, table_schemas
from resources.capture.order.shards import Dropped
from resources.capture.planner import Mark
from resources.errors import CaptureError

MINUTE_MS = 60_000


@dataclass(frozen=True)
class SchemaChange:
    """A table's columns from `offset` of the instance's topic on."""

    instance: str
    offset: int
    schema: TableSchema


@dataclass(frozen=True)
class Scan:
    """What was read. `view` is a global temporary view over the cached records (columns: envelope/record.py).

    `ends` are per instance one past the last readable offset, `first_offsets` those of row changes per (instance,
    physical table), `nobodys` the number of changes of tables that nobody declared, `repeated` whether some record is
    there twice, `gaps` the first hole found per instance. `place` says in words where a record (instance, offset) is,
    `with_text` whether some images' values may be text as the server prints it. `poison` is the number of records
    that are none and go to the dead letters, as values that fit no type do; None where the source is corrected instead.
    """

    view: str
    records: DataFrame
    ends: Mapping[str, int]
    marks: Mapping[str, Sequence[Mark]]
    first_offsets: Mapping[tuple[str, str | None], int]
    nobodys: int
    repeated: bool
    gaps: Mapping[str, CaptureError]
    place: Callable[[str, int], str]
    with_text: bool = False
    poison: int | None = None

    def end_offset(self, instance: str, default: int) -> int:
        """One past the last readable offset."""
        return self.ends.get(instance, default)

    @cached_property
    def schema_changes(self) -> tuple[SchemaChange, ...]:
        """All recorded schema changes, in order of (instance, offset)."""
        return tuple(
            SchemaChange(row.instance, row.offset, schema)
            for row in self._declarations
            for schema in table_schemas(row.changes)
        )

    @cached_property
    def dropped(self) -> tuple[Dropped, ...]:
        """All tables that were dropped, in order of (instance, offset)."""
        return tuple(
            Dropped(row.instance, row.offset, physical)
            for row in self._declarations
            for physical in dropped_tables(row.changes)
        )

    @cached_property
    def _declarations(self) -> list[Row]:
        # The first of each: Canal repeats a table's columns in every message.
        said = self.records.where("changes IS NOT NULL").groupBy(
            "instance", "changes", sf.when(~sf.col("text"), sf.col("offset"))
        )
        rows = said.agg(sf.min("offset").alias("offset")).collect()
        return sorted(rows, key=lambda row: (row.instance, row.offset))

    def close(self) -> None:
        """Forget the cached records."""
        self.records.unpersist()
        self.records.sparkSession.catalog.dropGlobalTempView(self.view)


def opened(records: DataFrame, scan: Callable[[str, DataFrame], Scan]) -> Scan:
    """Cache `records` under a view of their own, and let `scan` sum them up; nothing stays behind when it raises."""
    cached = records.persist()
    view = f"scan_{uuid.uuid4().hex}"
    cached.createOrReplaceGlobalTempView(view)
    try:
        return scan(view, cached)
    except Exception:
        # What stays cached would be read again in place of the corrected file: it has the same path.
        cached.unpersist()
        cached.sparkSession.catalog.dropGlobalTempView(view)
        raise


def summary(records: DataFrame) -> list[dict[str, Any]]:
    """Few rows: one per file, physical table and event minute."""
    minute = (sf.floor(sf.col("event_ms") / MINUTE_MS) * MINUTE_MS).cast("bigint").alias("minute")
    grouped = records.groupBy("instance", "path", "physical", minute).agg(
        sf.min("offset").alias("first_offset"),
        sf.max("offset").alias("last_offset"),
        sf.min(sf.when(sf.col("op").isNotNull(), sf.col("offset"))).alias("first_change"),
        sf.max("event_ms").alias("newest"),
        sf.count("*").alias("records"),
        sf.count_if(sf.col("raw").isNotNull() & sf.col("problem").isNull()).alias("nobodys"),
        sf.count("problem").alias("bad"),
    )
    return list(grouped.toArrow().to_pylist())


def marks_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Mark]]:
    """The event minutes of each instance."""
    marks: dict[str, dict[int, Mark]] = defaultdict(dict)
    for row in rows:
        if row["minute"] is not None:
            mark = Mark(row["minute"], row["first_offset"], row["newest"])
            marks[row["instance"]][mark.minute] = _both(mark, marks[row["instance"]].get(mark.minute, mark))
    return {instance: list(found.values()) for instance, found in marks.items()}


def _both(one: Mark, other: Mark) -> Mark:
    return Mark(one.minute, min(one.first_offset, other.first_offset), max(one.newest_ms, other.newest_ms))


def first_offsets_of(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str | None], int]:
    """The first row change of each physical table."""
    first: dict[tuple[str, str | None], int] = {}
    for row in rows:
        if row["first_change"] is not None:
            shard = (row["instance"], row["physical"])
            first[shard] = min(row["first_change"], first.get(shard, row["first_change"]))
    return first
