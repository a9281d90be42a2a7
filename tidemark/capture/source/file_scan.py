"""One pass over change files: checks, caches and summarizes their records."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlparse

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from tidemark.capture.errors import CorruptFileError, OffsetGapError
from tidemark.capture.source.change_files import ChangeFile, check_file, line_of
from tidemark.capture.source.envelope.change_record import route
from tidemark.capture.source.envelope.debezium import read_files
from tidemark.capture.source.scan import Scan, open_scan
from tidemark.capture.source.scan_summary import Group, summarize
from tidemark.capture.source_table import SourceTable, topic_of


@dataclass(frozen=True)
class FileRange:
    """Offsets `[start, end)` that one file really holds."""

    file: ChangeFile
    start: int
    end: int


def scan_files(
    spark: SparkSession, files: Sequence[ChangeFile], tables: Sequence[SourceTable], next_offsets: Mapping[str, int]
) -> Scan:
    """Read and check `files`. Raises CorruptFileError or MalformedLineError if one of them cannot be used."""
    records = route(read_files(spark, files), tables)
    return open_scan(records, lambda view, cached: _scan(view, cached, files, next_offsets))


def _scan(view: str, records: DataFrame, files: Sequence[ChangeFile], next_offsets: Mapping[str, int]) -> Scan:
    try:
        summary = summarize(records, next_offsets)
    except (PySparkException, Py4JJavaError) as error:  # toArrow passes on a failed job's error as it came from the JVM
        raise _file_error(files, error) from error
    by_path = {file.path.resolve(): file for file in files}
    by_uri = {uri: by_path[_local(uri)] for uri in {group["path"] for group in summary.groups}}
    by_file: dict[ChangeFile, list[Group]] = defaultdict(list)
    for group in summary.groups:
        by_file[by_uri[group["path"]]].append(group)
    _refuse_bad(files, by_file)
    spans = [_file_range(file, groups) for file, groups in sorted(by_file.items())]
    _refuse_holes(records, spans, by_file)
    ranges, gaps = _contiguous(spans, next_offsets)
    ends = {instance: held[-1].end for instance, held in ranges.items()}
    groups = [group for held in ranges.values() for file_range in held for group in by_file[file_range.file]]
    return Scan(
        view=view,
        records=records,
        summary=summary.within(groups, ends),
        ends=ends,
        repeated=sum(group["records"] for group in groups)
        > sum(span[-1].end - span[0].start for span in ranges.values()),
        gaps=gaps,
        place=lambda instance, offset: _place(ranges.get(instance, ()), instance, offset),
    )


def _place(ranges: Sequence[FileRange], instance: str, offset: int) -> str:
    """The file and line of an offset."""
    held = (span.file.path for span in ranges if span.start <= offset < span.end)
    path = next(held, None)
    return f"{path}:{line_of(path, offset)}" if path else f"{topic_of(instance)} offset {offset}"


def _local(uri: str) -> Path:
    return Path(unquote(urlparse(uri).path)).resolve()


def _file_error(files: Sequence[ChangeFile], error: Exception) -> Exception:
    """The error of the first unusable file; the original error if all files are readable."""
    for file in files:
        try:
            check_file(file.path, topic_of(file.instance))
        except CorruptFileError as found:
            return found
    return error


def _refuse_bad(files: Sequence[ChangeFile], by_file: Mapping[ChangeFile, Sequence[Group]]) -> None:
    for file in sorted(set(files) - by_file.keys()):
        raise CorruptFileError.of(file.path, "no record in it")
    for file, groups in by_file.items():
        bad = sum(group["bad"] for group in groups)
        if bad:
            check_file(file.path, topic_of(file.instance))
            raise CorruptFileError.of(file.path, f"{bad} lines that Spark cannot read as change records")


def _file_range(file: ChangeFile, groups: Sequence[Group]) -> FileRange:
    start, end = min(group["first_offset"] for group in groups), max(group["last_offset"] for group in groups) + 1
    return FileRange(file, start, end)


def _refuse_holes(
    records: DataFrame, spans: Sequence[FileRange], by_file: Mapping[ChangeFile, Sequence[Group]]
) -> None:
    """Raise CorruptFileError for missing offsets inside a file. Repeated offsets (redelivery) are allowed."""
    for span in spans:
        mine = by_file[span.file]
        if sum(group["records"] for group in mine) == span.end - span.start:
            continue
        distinct = records.where(sf.col("path") == mine[0]["path"]).select("offset").distinct().count()
        if distinct < span.end - span.start:
            missing = span.end - span.start - distinct
            raise CorruptFileError.of(
                span.file.path, f"{missing} of the offsets {span.start} to {span.end - 1} are missing"
            )


def _contiguous(
    spans: Sequence[FileRange], next_offsets: Mapping[str, int]
) -> tuple[dict[str, tuple[FileRange, ...]], dict[str, OffsetGapError]]:
    """The files of each instance up to the first gap; files may overlap (a redelivered tail)."""
    kept: dict[str, list[FileRange]] = defaultdict(list)
    gaps: dict[str, OffsetGapError] = {}
    reached = dict(next_offsets)
    for span in spans:
        instance = span.file.instance
        if instance in gaps:
            continue
        if span.start > reached[instance]:
            gaps[instance] = OffsetGapError.of(topic_of(instance), span.file.path, reached[instance], span.start)
            continue
        kept[instance].append(span)
        reached[instance] = max(reached[instance], span.end)
    return {instance: tuple(ranges) for instance, ranges in kept.items()}, gaps
