"""Rules with a query of their own: referential and query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as sf

from tidemark.compute.rule_measures import Judgement, listed
from tidemark.dependency_model.entity.quality_rules import SLICE_ROWS, NoRows, QualityRule, Referential
from tidemark.quoting.spark import quote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from tidemark.compute.input_views import Inputs
    from tidemark.dependency_model.slice import Slice

_KEY: Final = "_key_{}"


def judge_by_query(rule: QualityRule, rows: DataFrame, slice_: Slice, inputs: Inputs) -> Judgement:
    """The result of one rule for the rows of one slice. Raises errors of Spark, SnapshotMissingError, EntityError."""
    match rule:
        case Referential(columns=columns, entity=entity):
            count = without_reference(rule, rows, slice_, inputs).count()
            return Judgement(count == 0, f"{count} rows with {listed(columns)} that {entity} does not have")
        case NoRows(no_rows=text):
            inputs.register(slice_)
            rows.createOrReplaceTempView(SLICE_ROWS)
            count = inputs.sql(text, slice_).count()
            return Judgement(count == 0, f"{count} rows of the query, expected none")
    raise TypeError(f"no query for the quality rule {rule!r}")


def without_reference(rule: Referential, rows: DataFrame, slice_: Slice, inputs: Inputs) -> DataFrame:
    """The rows whose columns are not a key of the other entity; rows with NULL in one of them pass."""
    some = rows if rule.where is None else rows.where(rule.where)
    some = some.where(" AND ".join(f"{quote(column)} IS NOT NULL" for column in rule.columns))
    names = [_KEY.format(at) for at in range(len(rule.columns))]
    pairs = zip(rule.keys, names, strict=True)
    keys = inputs.view(rule.entity, slice_).select(*(sf.col(quote(key)).alias(name) for key, name in pairs)).distinct()
    on = [sf.col(quote(column)) == sf.col(name) for column, name in zip(rule.columns, names, strict=True)]
    return some.join(keys, on, "left_anti")
