"""The rows of a captured version that its rules must read: the partitions that changed since they last passed.

An hour of changes affects few partitions of a table with years of them. A rule about single rows that held for an
earlier version holds for a later one if it holds in the partitions with new rows. The same is true for `unique`, if no
other partition has one of their keys; rows are counted by the log. This is exact, not a sample. In any doubt the whole
version is read in one scan: other rules, another schema, a commit that is not in the log any more, an expression that
depends on the time of evaluation.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import sqlglot
from pyspark.sql import functions as sf
from sqlglot import exp
from sqlglot.errors import SqlglotError

from tidemark.delta.added_partitions import added_partitions, table_state
from tidemark.delta.delta_rs_table import table_metrics
from tidemark.dependency_model.entity.quality_rules import (
    AcceptedValues,
    Expression,
    NotNull,
    Pattern,
    RowCount,
    Unique,
    WithinRange,
)
from tidemark.dependency_model.entity.rule_text import rule_text
from tidemark.dependency_model.time.spark_time_zone import SPARK_TIME_ZONE
from tidemark.quoting.spark import quote

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from pyspark.sql import Column, DataFrame

    from tidemark.delta.added_partitions import PartitionTexts
    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.entity.quality_rules import QualityRule
    from tidemark.state_store.rule_results import RuleResults
    from tidemark.system.table_location import TableLocation

MOST_PARTITIONS: Final = 200
"""With more partitions the whole table is read, because most of it changed."""
_BY_ROW: Final = (NotNull, AcceptedValues, WithinRange, Pattern, Expression)
_PLAIN: Final = (
    *(exp.Column, exp.Identifier, exp.Literal, exp.Boolean, exp.Null, exp.Paren, exp.Neg, exp.Tuple),
    *(exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ),
    *(exp.Is, exp.In, exp.Between, exp.Like, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod),
    *(exp.Coalesce, exp.Abs, exp.Length, exp.Lower, exp.Upper, exp.Trim, exp.Case, exp.If),
)
"""Expressions that give the same result for the same row at any time."""


@dataclass(frozen=True)
class ChangedRows:
    """The rows of partitions that changed, business time last; `whole_rows` is the number of rows of the version.

    `elsewhere` has, by rule name, the number of rows in other partitions with a key of the changed ones.
    """

    rows: DataFrame
    whole_rows: int
    elsewhere: Mapping[str, int]


def can_be_narrowed(entity: Entity) -> bool:
    """Whether the changed partitions alone decide all rules of an entity's versions."""
    if entity.profiled is not None or not entity.quality:
        return False
    times = {column.name.lower() for column in entity.times}
    return all(_is_of_rows_alone(rule, times) for rule in entity.quality)


def judged_state(path: TableLocation, version: int, zone: str) -> str:
    """A text that changes whenever a rule may judge the same rows differently: another table or another clock."""
    state = table_state(path, version)
    return state if zone == SPARK_TIME_ZONE else f"{state} {zone}"


def changed_rows(
    entity: Entity,
    path: TableLocation,
    judged: tuple[int, str],
    whole: DataFrame,
    names: Mapping[str, QualityRule],
    results: RuleResults,
) -> ChangedRows | None:
    """The rows to read of `whole`, the rows of the version; None to read all of it.

    `judged` has the version and its `judged_state`, `names` the entity's rules by the names of their checks.
    """
    version, state = judged
    held = results.held_at(entity.name, state, version)
    texts = {rule_text(rule) for rule in names.values() if not isinstance(rule, RowCount)}
    if not texts <= held.keys():
        return None
    since = min((held[text] for text in texts), default=version)
    partitions = added_partitions(path, since, version)
    if partitions is None or () in partitions or len(partitions) > MOST_PARTITIONS:
        return None
    is_changed = _is_in_any(partitions, whole)
    changed, others = whole.where(is_changed), whole.where(~is_changed)
    elsewhere = {
        name: _keys_elsewhere(rule, changed, others) if partitions else 0
        for name, rule in names.items()
        if isinstance(rule, Unique)
    }
    return ChangedRows(changed, table_metrics(path, version=version).rows, elsewhere)


def _is_of_rows_alone(rule: QualityRule, times: Collection[str]) -> bool:
    if isinstance(rule, RowCount):
        return rule.where is None
    if not isinstance(rule, (*_BY_ROW, Unique)):
        return False
    named = {getattr(rule, "column", ""), *getattr(rule, "columns", ())}
    texts = [text for text in (rule.where, getattr(rule, "holds", None)) if text is not None]
    return not {name.lower() for name in named} & set(times) and all(_is_plain(text, times) for text in texts)


def _is_plain(text: str, times: Collection[str]) -> bool:
    """Whether an SQL condition depends only on a row as stored in the table."""
    try:
        nodes = list(sqlglot.parse_one(text, read="spark").walk())
    except SqlglotError:
        return False
    names = {node.name.lower() for node in nodes if isinstance(node, exp.Column)}
    return all(isinstance(node, _PLAIN) for node in nodes) and not names & set(times)


def _is_in_any(partitions: Iterable[PartitionTexts], whole: DataFrame) -> Column:
    """A predicate on partition columns that Delta prunes by. Texts are cast to the columns' types."""
    types = {field.name: field.dataType for field in whole.schema}
    conditions = (
        functools.reduce(
            lambda a, b: a & b,
            (sf.col(quote(name)).eqNullSafe(sf.lit(text).cast(types[name])) for name, text in partition),
        )
        for partition in partitions
    )
    return functools.reduce(lambda a, b: a | b, conditions, sf.lit(False))  # noqa: FBT003 - a literal of SQL


def _keys_elsewhere(rule: Unique, changed: DataFrame, others: DataFrame) -> int:
    """The number of rows in other partitions with the key of a changed row; NULLs in keys are equal."""
    if rule.where is not None:
        changed, others = changed.where(rule.where), others.where(rule.where)
    names = [f"_key_{number}" for number in range(len(rule.columns))]
    columns = [sf.col(quote(column)).alias(name) for column, name in zip(rule.columns, names, strict=True)]
    mine, theirs = changed.select(*columns).distinct().alias("mine"), others.select(*columns).alias("theirs")
    same = [sf.col(f"theirs.{name}").eqNullSafe(sf.col(f"mine.{name}")) for name in names]
    return theirs.join(mine, same, "left_semi").count()
