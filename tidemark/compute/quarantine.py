"""Quarantine: keeps rows that broke a rule with `quarantine`, with the rule's name, in a separate Delta table.

A row is stored as JSON, so the table's columns may change. The rows of a slice and rule are replaced whenever the slice
is judged, and removed once the rule holds.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import Window
from pyspark.sql import functions as sf

from tidemark.compute.rule_measures import breaking_condition
from tidemark.compute.rule_queries import without_reference
from tidemark.delta.delta_rs_table import table_exists, table_metrics
from tidemark.delta.partition_predicate import partition_predicate
from tidemark.delta.replace_partition import replace_partitions
from tidemark.dependency_model.entity.quality_rules import QualityRule, Referential, Unique, check_names
from tidemark.quoting.spark import quote

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame

    from tidemark.compute.check_result import CheckResult
    from tidemark.compute.quality_checks import Audit
    from tidemark.compute.rule_surroundings import Surroundings
    from tidemark.delta.delta_rs_table import Partition
    from tidemark.dependency_model.slice import Slice
    from tidemark.system.table_location import TableLocation

LIMIT: Final = 10_000
"""The most rows that are kept for a slice and rule."""
_SEEN: Final = "_seen"


def quarantined(
    rules: Sequence[QualityRule],
    audits: Mapping[Slice, Audit],
    rows: DataFrame,
    slices: Mapping[tuple[Any, ...], Slice],
    around: Surroundings,
) -> dict[Slice, Audit]:
    """Keeps the rows that broke a rule, in one commit. Returns the audits with their place.

    See `audit` for `slices`.
    """
    kept = {name: rule for name, rule in zip(check_names(rules), rules, strict=True) if rule.quarantine}
    if not kept:
        return dict(audits)
    entity = next(iter(slices.values())).entity
    path, partition = around.quarantine_of(entity), rows.columns[len(rows.columns) - len(next(iter(slices))) :]
    parts: list[tuple[Partition, DataFrame]] = []
    for key, slice_ in slices.items():
        own = rows.where(partition_predicate(dict(zip(partition, key, strict=True))))
        checks = {check.name: check for check in audits[slice_].checks}
        for name, rule in kept.items():
            part = _partition(slice_, name)
            if _is_broken(checks[name]):
                parts.append((part, _as_json(breaking_rows(rule, own, slice_, around))))
            elif _is_there(path, part):
                parts.append((part, _as_json(own.limit(0))))
    if parts:
        replace_partitions(parts, path)
    return {slice_: _with_place(audit, kept, path) for slice_, audit in audits.items()}


def breaking_rows(rule: QualityRule, rows: DataFrame, slice_: Slice, around: Surroundings) -> DataFrame:
    """The rows of a slice that break a rule about single rows; for repeated keys, all of their rows."""
    if isinstance(rule, Referential):
        return without_reference(rule, rows, slice_, around.inputs)
    some = rows if rule.where is None else rows.where(rule.where)
    if isinstance(rule, Unique):
        same = Window.partitionBy(*map(quote, rule.columns))
        return some.withColumn(_SEEN, sf.count("*").over(same)).where(f"{_SEEN} > 1").drop(_SEEN)
    return some.where(breaking_condition(rule) or "false")


def _is_broken(check: CheckResult) -> bool:
    return not check.passed and not check.is_unknown


def _partition(slice_: Slice, rule: str) -> dict[str, str]:
    return {"slice": str(slice_), "rule": rule}


def _is_there(path: TableLocation, part: Partition) -> bool:
    return table_exists(path) and table_metrics(path, part).files > 0


def _as_json(rows: DataFrame) -> DataFrame:
    return rows.limit(LIMIT).select(sf.to_json(sf.struct("*"), {"ignoreNullFields": "false"}).alias("row"))


def _with_place(audit: Audit, kept: Mapping[str, QualityRule], path: TableLocation) -> Audit:
    checks = tuple(
        replace(check, figures={**check.figures, "quarantine": str(path)})
        if check.name in kept and _is_broken(check)
        else check
        for check in audit.checks
    )
    return replace(audit, checks=checks)
