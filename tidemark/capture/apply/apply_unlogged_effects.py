"""Commits the changes of a shard's rows that no row event describes: TRUNCATE, a new column's value, a load's end."""

from collections.abc import Mapping, Sequence

from pyspark.sql import SparkSession

from tidemark.capture.planning.commit_planner import PlannedBatch
from tidemark.capture.planning.unlogged_effects import RowEffect, Swept
from tidemark.capture.schema.ddl.unlogged_row_effects import ColumnsSet
from tidemark.capture.schema.table_columns import TableColumns
from tidemark.delta.commit_info import Transaction
from tidemark.delta.delete_or_set_rows import delete_rows, set_columns
from tidemark.delta.empty_commit import commit_nothing
from tidemark.quoting.spark import text_literal
from tidemark.system.table_location import TableLocation


def effects_by_batch(effects: Sequence[RowEffect], batches: Sequence[PlannedBatch]) -> dict[int, RowEffect]:
    """The effect of each batch index. Batches are cut so that an effect has a batch to itself."""
    return {
        index: effect
        for effect in effects
        for index, batch in enumerate(batches)
        if effect.offset in batch.spans[effect.instance]
    }


def apply_effect(
    spark: SparkSession, path: TableLocation, effect: RowEffect, columns: TableColumns, transaction: Transaction
) -> int:
    """Apply an effect to its shard's rows in one commit. Returns the version, also if an earlier attempt made it."""
    of_shard = f"_shard = {text_literal(effect.shard)}"
    if isinstance(effect.effect, Swept):
        return delete_rows(spark, path, f"{of_shard} AND _offset < {effect.effect.before}", transaction)
    if not isinstance(effect.effect, ColumnsSet):
        return delete_rows(spark, path, of_shard, transaction)
    values = _values(effect, effect.effect, columns)
    return (
        set_columns(spark, path, values, of_shard, transaction) if values else commit_nothing(spark, path, transaction)
    )


def _values(effect: RowEffect, given: ColumnsSet, columns: TableColumns) -> Mapping[str, str]:
    """The new value of each lake column, as SQL. Columns that the lake does not have are left out."""
    there = {column.source_name.lower(): column for column in columns.row_at(effect.shard, effect.offset)}
    return {
        there[name.lower()].name: "NULL" if text is None else there[name.lower()].from_text(text_literal(text))
        for name, text in given.values.items()
        if name.lower() in there
    }
