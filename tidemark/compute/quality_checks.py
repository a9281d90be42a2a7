"""Quality rules of an entity as SQL over the files of a slice, before they are published (A5, C1).

All rules of all slices of a run are one aggregate query with one scan. A reconciliation adds the query that it compares
with. `referential` and `query` are separate jobs for each slice, and `drift` compares profiles. A rule that crashes is
unknown: it does not pass, and its reason has the error.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import functions as sf
from pyspark.sql.types import TimestampNTZType, TimestampType

from tidemark.compute.anomaly_verdict import CHECK_NAME
from tidemark.compute.check_result import CheckResult
from tidemark.compute.drift_rule import judge_drift
from tidemark.compute.file_profile.file_profile import can_be_read, profile_of_files
from tidemark.compute.profile_aggregates import (
    APART,
    ProfileAggregates,
    end_expression,
    end_text,
    profiled_fields,
)
from tidemark.compute.rule_measures import Judgement, measure
from tidemark.compute.rule_queries import judge_by_query
from tidemark.delta.partition_predicate import partition_predicate
from tidemark.dependency_model.entity.quality_rules import Drift, QualityRule, RowCount, check_names
from tidemark.errors import TidemarkError
from tidemark.quoting.spark import quote
from tidemark.spark.temporary_settings import settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType

    from tidemark.compute.anomaly_verdict import AnomalyVerdict
    from tidemark.compute.changed_rows import ChangedRows
    from tidemark.compute.rule_measures import Measure
    from tidemark.compute.rule_surroundings import Surroundings
    from tidemark.dependency_model.entity.profile_settings import ProfileSettings
    from tidemark.dependency_model.profile.figures import SliceFigures
    from tidemark.dependency_model.profile.slice_profile import SliceProfile
    from tidemark.dependency_model.slice import Slice

_LOG: Final = logging.getLogger(__name__)
_TIME_TYPES: Final = (TimestampType, TimestampNTZType)
_ENDS: Final = ("min", "max")
_ROWS: Final = "rows of the slice"
_ANY: Final = "any rows"
_LONGEST: Final = 400
_CRASHES: Final = (PySparkException, Py4JError, TidemarkError)
"""The errors that expressions and queries of rules can raise. Other errors are faults of the engine."""


@dataclass(frozen=True)
class Audit:
    """The result for a slice's rows. `event_times` are the least and greatest time in them, as text.

    `profile` can be merged, `figures` are shown; both are None if not measured. `anomaly` is the comparison with
    history; None if not compared. `rows` is None if not counted.
    """

    checks: tuple[CheckResult, ...]
    event_times: tuple[str, str] | None
    profile: SliceProfile | None = None
    figures: SliceFigures | None = None
    anomaly: AnomalyVerdict | None = None
    rows: int | None = None

    @property
    def blocks(self) -> bool:
        """Whether the rows must not be published."""
        return bool(self.broken)

    @property
    def is_unknown(self) -> bool:
        """Whether nothing is known to be wrong, but blocking rules crashed."""
        blocking = [check for check in self.checks if check.blocks]
        deeper = [check for check in (self.anomaly.deeper if self.anomaly else ()) if check.blocks]
        is_refused = self.anomaly is not None and CHECK_NAME in self.anomaly.broken
        return bool(blocking or deeper) and not is_refused and all(c.is_unknown for c in (*blocking, *deeper))

    @property
    def broken(self) -> dict[str, str]:
        """The reasons of blocking rules, by rule."""
        own = {check.name: check.reason for check in self.checks if check.blocks}
        return own | (self.anomaly.broken if self.anomaly else {})


class _Partition(NamedTuple):
    """The columns of business time, and their values if all rows are of one slice."""

    columns: Sequence[str]
    only: tuple[Any, ...] | None


@dataclass(frozen=True)
class _Scan:
    """The results of the scan by partition, with the figure of each rule. `crashed` are rules that failed."""

    figures: Mapping[tuple[Any, ...], Mapping[str, Any]]
    crashed: Mapping[str, str]
    profile: ProfileAggregates | None


def audit(
    rules: Sequence[QualityRule],
    rows: DataFrame,
    slices: Mapping[tuple[Any, ...], Slice],
    around: Surroundings,
    profiled: ProfileSettings | None = None,
    narrowed: ChangedRows | None = None,
    files: Mapping[Slice, Sequence[Path]] | None = None,
) -> dict[Slice, Audit]:
    """Judges the rows of slices by `rules`, in their order, and finds the times that they span, in one scan.

    `profiled` says which columns have a profile. It is measured from the `files` of each slice if given, else in the
    same scan; there is none if that crashes. `slices` are by the values of the partition columns, the last columns of
    `rows`. With `narrowed` only changed partitions of one captured slice are scanned, and the times are not known.
    """
    named = dict(zip(check_names(rules), rules, strict=True))
    measures = {name: measured for name, rule in named.items() if (measured := measure(name, rule))}
    partition = rows.columns[len(rows.columns) - len(next(iter(slices))) :]
    times = {
        field.name: field.dataType
        for field in rows.schema
        if isinstance(field.dataType, _TIME_TYPES) and field.name not in partition
    }
    of_files = _profiles_of(files, rows.schema, partition, profiled) if files and profiled else {}
    is_scanned = profiled is not None and not of_files
    profile = ProfileAggregates(rows.schema, tuple(partition), profiled) if profiled and is_scanned else None
    told_by = _Partition(partition, next(iter(slices)) if len(slices) == 1 else None)
    if narrowed is None:
        scan = _scan(rows, list(measures.values()), times, told_by, profile)
    else:
        counted = {name: measured for name, measured in measures.items() if not isinstance(named[name], RowCount)}
        scan = _scan(narrowed.rows, list(counted.values()), {}, told_by, None)
        scan = replace(scan, figures={key: _of_whole(scan.figures.get(key, {}), named, narrowed) for key in slices})
    around.now_counted({slice_: scan.figures.get(key, {}).get(_ROWS, 0) for key, slice_ in slices.items()})
    audits = {}
    for key, slice_ in slices.items():
        own = rows.where(partition_predicate(dict(zip(partition, key, strict=True))))
        figures = scan.figures.get(key, {})
        its_profile = scan.profile.profile(figures) if scan.profile else of_files.get(slice_)
        subject = _Subject(own, slice_, figures, scan.crashed, around, its_profile)
        checks = tuple(_check(name, rule, measures.get(name), subject) for name, rule in named.items())
        audits[slice_] = Audit(checks, _span(figures, times), its_profile, rows=figures.get(_ROWS))
    return audits


def _profiles_of(
    files: Mapping[Slice, Sequence[Path]], schema: StructType, partition: Sequence[str], wanted: ProfileSettings
) -> dict[Slice, SliceProfile]:
    """Profiles by slice; empty if Arrow cannot read a file as Spark does (an unknown type)."""
    fields = profiled_fields(schema, tuple(partition), wanted)
    if not can_be_read(fields):
        return {}
    try:
        return {slice_: profile_of_files(own, fields) for slice_, own in files.items()}
    except (pa.ArrowException, OSError, UnicodeError) as error:
        _LOG.warning("the profile of %s is measured by Spark: %s", next(iter(files)).entity, error)
        return {}


def _of_whole(figures: Mapping[str, Any], rules: Mapping[str, QualityRule], narrowed: ChangedRows) -> Mapping[str, Any]:
    """The figures of a whole version, from the figures of its changed partitions: the other partitions still pass."""
    counts = {name: narrowed.whole_rows for name, rule in rules.items() if isinstance(rule, RowCount)}
    twice = {name: figures.get(name, 0) + more for name, more in narrowed.elsewhere.items()}
    return {**figures, **counts, **twice, _ROWS: narrowed.whole_rows}


@dataclass(frozen=True)
class _Subject:
    """A slice to judge: its rows, and the results of the scan."""

    rows: DataFrame
    slice: Slice
    figures: Mapping[str, Any]
    crashed: Mapping[str, str]
    around: Surroundings
    profile: SliceProfile | None


def _check(name: str, rule: QualityRule, measured: Measure | None, subject: _Subject) -> CheckResult:
    if name in subject.crashed:
        return _unknown(name, rule, subject.crashed[name])
    try:
        if isinstance(rule, Drift):
            verdict, value = judge_drift(rule, subject.profile, subject.slice, subject.around), None
        elif measured is None:
            verdict, value = judge_by_query(rule, subject.rows, subject.slice, subject.around.inputs), None
        else:
            value = subject.figures.get(name, measured.of_no_rows)
            verdict = measured.judge(value, subject.slice, subject.around)
    except _CRASHES as error:
        return _unknown(name, rule, _first_lines(error))
    return CheckResult(name, verdict.passed, verdict.reason, _figures(name, verdict, value), rule.severity)


def _figures(name: str, verdict: Judgement, value: Any) -> Mapping[str, Any]:
    if verdict.figures is not None:
        return verdict.figures
    return {} if value is None else {name: value}


def _unknown(name: str, rule: QualityRule, error: str) -> CheckResult:
    return CheckResult(name, False, f"unknown, as the rule crashed: {error}", {}, rule.severity, is_unknown=True)  # noqa: FBT003


def _scan(
    rows: DataFrame,
    measures: Sequence[Measure],
    times: Mapping[str, DataType],
    partition: _Partition,
    profile: ProfileAggregates | None,
) -> _Scan:
    """Scans for all rules at once.

    If that crashes, each rule is scanned separately, so that the others have results.
    """
    spans = {
        f"{end} {name}": end_expression(f"{end}({quote(name)})", kind) for name, kind in times.items() for end in _ENDS
    }
    always = {**spans, **({_ROWS: "count(*)"} if measures else {})}
    of_rules = {measured.name: measured.expression for measured in measures}
    of_profile = profile.expressions() if profile else {}
    try:
        with settings(rows.sparkSession, APART if profile else {}):
            prepared = profile.prepare(rows) if profile else rows
            return _Scan(_aggregate(prepared, {**always, **of_rules, **of_profile}, partition), {}, profile)
    except _CRASHES:
        figures = {key: dict(row) for key, row in _aggregate(rows, always, partition).items()}
    crashed = {}
    for name, expression in of_rules.items():
        try:
            for key, row in _aggregate(rows, {name: expression}, partition).items():
                figures[key].update(row)
        except _CRASHES as error:
            crashed[name] = _first_lines(error)
    return _Scan(figures, crashed, None)


def _aggregate(
    rows: DataFrame, expressions: Mapping[str, str], partition: _Partition
) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The value of each expression by partition. Raises errors of Spark.

    One slice is not grouped: Spark then adds up in variables and needs no hash table.
    """
    if not expressions:
        return {}
    named = [sf.expr(expression).alias(name) for name, expression in expressions.items()]
    if partition.only is not None:
        (row,) = rows.agg(*named, sf.expr("count(*)").alias(_ANY)).collect()
        return {partition.only: {name: row[name] for name in expressions}} if row[_ANY] else {}
    aggregated = rows.groupBy(*map(quote, partition.columns)).agg(*named).collect()
    return {
        tuple(row[name] for name in partition.columns): {name: row[name] for name in expressions} for row in aggregated
    }


def _span(figures: Mapping[str, Any], times: Iterable[str]) -> tuple[str, str] | None:
    ends = [end_text(figures.get(f"{end} {name}")) for name in times for end in _ENDS]
    spanned = [end for end in ends if end is not None]
    return (min(spanned), max(spanned)) if spanned else None


def _first_lines(error: Exception) -> str:
    """The text of an error without its trace."""
    return " ".join(str(error).partition("JVM stacktrace")[0].split())[:_LONGEST]
