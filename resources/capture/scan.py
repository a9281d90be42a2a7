"""One pass over the change files that are due: checked, cached, and summed up for the planner."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from resources.capture.column_types import TableSchema, table_schemas
from resources.capture.envelope import read_records
from resources.capture.errors import CorruptFileError, OffsetGapError
from resources.capture.landing import ChangeFile, check_file
from resources.capture.planner import Mark
from resources.capture.source import SourceTable, topic_of

MINUTE_MS = 60_000


@dataclass(frozen=True)
class FileRange:
    """Offsets `[start, end)` that one file really holds."""

    file: ChangeFile
    start: int
    end: int


@dataclass(frozen=True)
class SchemaChange:
    """A table's columns from `offset` of the instance's topic on."""

    instance: str
    offset: int
    schema: TableSchema


@dataclass(frozen=True)
class Scan:
    """What the files hold. `view` is a global temporary view over the cached records (columns: envelope.py).

    `ranges` are per instance, contiguous, in order; `first_offsets` of row changes per (instance, physical
    table), `nobodys` the number of changes of tables that nobody declared, `repeated` whether some record is there
    twice, `gaps` the first hole found per instance.
    """

    view: str
    records: DataFrame
    ranges: Mapping[str, tuple[FileRange, ...]]
    marks: Mapping[str, Sequence[Mark]]
    first_offsets: Mapping[tuple[str, str | None], int]
    nobodys: int
    repeated: bool
    gaps: Mapping[str, OffsetGapError]

    def end_offset(self, instance: str, default: int) -> int:
        """One past the last readable offset."""
        ranges = self.ranges.get(instance)
        return ranges[-1].end if ranges else default

    def file_of(self, instance: str, offset: int) -> Path | None:
        """The file that an offset came in."""
        held = (one.file.path for one in self.ranges.get(instance, ()) if one.start <= offset < one.end)
        return next(held, None)

    @cached_property
    def schema_changes(self) -> tuple[SchemaChange, ...]:
        """All recorded schema changes, in order of (instance, offset)."""
        rows = self.records.where("changes IS NOT NULL").select("instance", "offset", "changes").distinct().collect()
        found = [
            SchemaChange(row.instance, row.offset, schema) for row in rows for schema in table_schemas(row.changes)
        ]
        return tuple(sorted(found, key=lambda one: (one.instance, one.offset)))

    def close(self) -> None:
        """Forget the cached records."""
        self.records.unpersist()
        self.records.sparkSession.catalog.dropGlobalTempView(self.view)


def scan_files(
    spark: SparkSession, files: Sequence[ChangeFile], tables: Sequence[SourceTable], next_offsets: Mapping[str, int]
) -> Scan:
    """Read and check `files`. Raises CorruptFileError or MalformedLineError when one of them cannot be used."""
    records = read_records(spark, files, tables).persist()
    view = f"scan_{uuid.uuid4().hex}"
    records.createOrReplaceGlobalTempView(view)
    try:
        return _scan(view, records, files, next_offsets)
    except Exception:
        # What stays cached would be read again in place of the corrected file: it has the same path.
        records.unpersist()
        spark.catalog.dropGlobalTempView(view)
        raise


def _scan(view: str, records: DataFrame, files: Sequence[ChangeFile], next_offsets: Mapping[str, int]) -> Scan:
    try:
        summary = _summary(records)
    except (PySparkException, Py4JJavaError) as error:  # toArrow hands a failed job on as it came from the JVM
        raise _file_error(files, error) from error
    by_path = {file.path.resolve(): file for file in files}
    rows = [{**row, "file": by_path[_local(row["path"])]} for row in summary]
    _refuse_bad(files, rows)
    found = _file_ranges(rows)
    _refuse_holes(records, found, rows)
    ranges, gaps = _contiguous(found, next_offsets)
    kept = {one.file for of_instance in ranges.values() for one in of_instance}
    rows = [row for row in rows if row["file"] in kept]
    return Scan(
        view=view,
        records=records,
        ranges=ranges,
        marks=_marks(rows),
        first_offsets=_first_offsets(rows),
        nobodys=sum(row["nobodys"] for row in rows),
        repeated=sum(row["records"] for row in rows) > sum(one[-1].end - one[0].start for one in ranges.values()),
        gaps=gaps,
    )


def _summary(records: DataFrame) -> list[dict[str, Any]]:
    """Few rows: one per file, physical table and event minute."""
    minute = (sf.floor(sf.col("event_ms") / MINUTE_MS) * MINUTE_MS).cast("bigint").alias("minute")
    grouped = records.groupBy("instance", "path", "physical", minute).agg(
        sf.min("offset").alias("first_offset"),
        sf.max("offset").alias("last_offset"),
        sf.min(sf.when(sf.col("op").isNotNull(), sf.col("offset"))).alias("first_change"),
        sf.max("event_ms").alias("newest"),
        sf.count("*").alias("records"),
        sf.count("raw").alias("nobodys"),
        sf.count_if("bad").alias("bad"),
    )
    return list(grouped.toArrow().to_pylist())


def _local(uri: str) -> Path:
    return Path(unquote(urlparse(uri).path)).resolve()


def _file_error(files: Sequence[ChangeFile], error: Exception) -> Exception:
    """Which file it was, in words; the original error when every file reads well."""
    for file in files:
        try:
            check_file(file.path, topic_of(file.instance))
        except CorruptFileError as found:
            return found
    return error


def _refuse_bad(files: Sequence[ChangeFile], rows: Sequence[Mapping[str, Any]]) -> None:
    for file in sorted(set(files) - {row["file"] for row in rows}):
        raise CorruptFileError.of(file.path, "no record in it")
    for row in rows:
        if row["bad"]:
            bad: ChangeFile = row["file"]
            check_file(bad.path, topic_of(bad.instance))
            raise CorruptFileError.of(bad.path, f"{row['bad']} lines that Spark cannot read as change records")


def _file_ranges(rows: Iterable[Mapping[str, Any]]) -> list[FileRange]:
    spans: dict[ChangeFile, list[tuple[int, int]]] = defaultdict(list)
    for row in rows:
        spans[row["file"]].append((row["first_offset"], row["last_offset"]))
    return [
        FileRange(file, min(start for start, _ in found), max(end for _, end in found) + 1)
        for file, found in sorted(spans.items())
    ]


def _refuse_holes(records: DataFrame, found: Sequence[FileRange], rows: Sequence[Mapping[str, Any]]) -> None:
    """Inside of a file offsets may repeat (redelivery) but not be missing."""
    for one in found:
        mine = [row for row in rows if row["file"] == one.file]
        if sum(row["records"] for row in mine) == one.end - one.start:
            continue
        distinct = records.where(sf.col("path") == mine[0]["path"]).select("offset").distinct().count()
        if distinct < one.end - one.start:
            missing = one.end - one.start - distinct
            raise CorruptFileError.of(
                one.file.path, f"{missing} of the offsets {one.start} to {one.end - 1} are missing"
            )


def _contiguous(
    found: Sequence[FileRange], next_offsets: Mapping[str, int]
) -> tuple[dict[str, tuple[FileRange, ...]], dict[str, OffsetGapError]]:
    """Per instance the files up to the first hole; files may overlap (a redelivered tail)."""
    kept: dict[str, list[FileRange]] = defaultdict(list)
    gaps: dict[str, OffsetGapError] = {}
    reached = dict(next_offsets)
    for one in found:
        instance = one.file.instance
        if instance in gaps:
            continue
        if one.start > reached[instance]:
            gaps[instance] = OffsetGapError.of(topic_of(instance), one.file.path, reached[instance], one.start)
            continue
        kept[instance].append(one)
        reached[instance] = max(reached[instance], one.end)
    return {instance: tuple(ranges) for instance, ranges in kept.items()}, gaps


def _marks(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Mark]]:
    marks: dict[str, dict[int, Mark]] = defaultdict(dict)
    for row in rows:
        if row["minute"] is not None:
            mark = Mark(row["minute"], row["first_offset"], row["newest"])
            marks[row["instance"]][mark.minute] = _both(mark, marks[row["instance"]].get(mark.minute, mark))
    return {instance: list(found.values()) for instance, found in marks.items()}


def _both(one: Mark, other: Mark) -> Mark:
    return Mark(one.minute, min(one.first_offset, other.first_offset), max(one.newest_ms, other.newest_ms))


def _first_offsets(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str | None], int]:
    first: dict[tuple[str, str | None], int] = {}
    for row in rows:
        if row["first_change"] is not None:
            shard = (row["instance"], row["physical"])
            first[shard] = min(row["first_change"], first.get(shard, row["first_change"]))
    return first
