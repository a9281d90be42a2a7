"""A slice's profile by aggregates in the query of its rules, without a separate pass (C9).

Spark's own functions make the sketches in the JVM, in the format that tidemark.dependency_model.profile merges. A
column has distinct values, and quantiles (numbers and times) or frequent values (texts and flags). For arrays, maps,
structs and binaries only values are counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import functions as sf
from pyspark.sql import types

from tidemark.compute.slice_clock import UTC
from tidemark.compute.time_text import time_text
from tidemark.dependency_model.profile.sketches import LOG_REGISTERS, QUANTILE_K, TRACKED_VALUES, merge_distinct
from tidemark.dependency_model.profile.slice_profile import (
    ColumnKind,
    ColumnProfile,
    SliceProfile,
    without_sketches_over,
)
from tidemark.quoting.spark import quote
from tidemark.spark.temporary_settings import settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import DataFrame

    from tidemark.dependency_model.entity.profile_settings import ProfileSettings

APART: Final = {"spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.CollapseProject"}
"""Inputs of sketches are computed before the aggregate, because Spark does not compile expressions inside of it."""
_ROWS: Final = "profile"
TEXT_LENGTH: Final = 64
MOST_SKETCH_BYTES: Final = 65_536
"""The limit for a slice's sketches. A number takes about 4 kB, a text at most 2 kB: enough for fifteen columns or more.
"""


class ProfileAggregates:
    """The aggregates of one table's profile. `partition` are the columns of business time, which have no profile."""

    def __init__(self, schema: types.StructType, partition: tuple[str, ...], wanted: ProfileSettings) -> None:
        self._fields = profiled_fields(schema, partition, wanted)

    def prepare(self, rows: DataFrame) -> DataFrame:
        """The rows with the inputs of sketches, to be aggregated by `expressions` with `APART` set."""
        with settings(rows.sparkSession, UTC):
            return rows.select("*", *(sf.expr(text).alias(name) for name, text in self._inputs()))

    def expressions(self) -> dict[str, str]:
        """SQL expressions over prepared rows, by name."""
        named = {_ROWS: "count(*)"}
        for number, field in enumerate(self._fields):
            named.update((_named(number, part), expression) for part, expression in _parts(number, field))
        return named

    def profile(self, figures: Mapping[str, Any]) -> SliceProfile:
        """The profile from the aggregates' values; without values it has no rows."""
        if _ROWS not in figures:
            return SliceProfile(0)
        columns = tuple(_column(field, number, figures) for number, field in enumerate(self._fields))
        return without_sketches_over(SliceProfile(figures[_ROWS], columns), MOST_SKETCH_BYTES)

    def _inputs(self) -> Iterator[tuple[str, str]]:
        for number, field in enumerate(self._fields):
            column, kind = quote(field.name), kind_of(field.dataType)
            if kind is ColumnKind.OTHER:
                continue
            # xxhash64 of NULL is its seed, which would count as a value.
            yield _named(number, "hash"), f"IF({column} IS NULL, NULL, xxhash64({column}))"
            if kind is ColumnKind.TEXT:
                yield _named(number, "text"), f"left(CAST({column} AS STRING), {TEXT_LENGTH})"
            else:
                yield _named(number, "number"), _as_number(column, field.dataType)


def profiled_fields(
    schema: types.StructType, partition: tuple[str, ...], wanted: ProfileSettings
) -> list[types.StructField]:
    """The columns with a profile. `partition` are the columns of business time, which have none."""
    own = tuple(field.name for field in schema if field.name not in partition)
    return [schema[name] for name in wanted.of(own)]


def _named(number: int, part: str) -> str:
    return f"{_ROWS} {number} {part}"


def _parts(number: int, field: types.StructField) -> Iterator[tuple[str, str]]:
    column, kind = quote(field.name), kind_of(field.dataType)
    if kind is ColumnKind.OTHER:
        yield "values", f"count({column})"
        return
    quantiles = f"kll_sketch_agg_double({quote(_named(number, 'number'))}, {QUANTILE_K})"
    yield (
        "values",
        f"coalesce(kll_sketch_get_n_double({quantiles}), 0)" if _is_counted(field.dataType) else f"count({column})",
    )
    for end in ("min", "max"):
        text = end_expression(f"{end}({column})", field.dataType)
        yield end, f"left({text}, {TEXT_LENGTH})" if kind is ColumnKind.TEXT else text
    yield "distinct", f"hll_sketch_agg({quote(_named(number, 'hash'))}, {LOG_REGISTERS})"
    if kind is ColumnKind.TEXT:
        yield "frequent", f"approx_top_k_accumulate({quote(_named(number, 'text'))}, {TRACKED_VALUES})"
    else:
        yield "quantiles", quantiles


def end_expression(end: str, data_type: types.DataType) -> str:
    """An expression of the least or greatest value that does not depend on the clock; `end_text` makes its text."""
    return f"unix_micros({end})" if isinstance(data_type, types.TimestampType) else f"CAST({end} AS STRING)"


def end_text(told: int | str | None) -> str | None:
    """The text of a value from `end_expression`; instants are in UTC."""
    return time_text(told) if isinstance(told, int) else told


def _is_counted(data_type: types.DataType) -> bool:
    """Whether the quantile sketch counts all values that are not NULL: floats are left out, because it ignores NaN."""
    return kind_of(data_type) is not ColumnKind.TEXT and not isinstance(data_type, (types.FloatType, types.DoubleType))


def kind_of(data_type: types.DataType) -> ColumnKind:
    """The kind of a column of this type."""
    if isinstance(data_type, types.NumericType):
        return ColumnKind.NUMBER
    if isinstance(data_type, (types.TimestampType, types.TimestampNTZType, types.DateType)):
        return ColumnKind.TIME
    return ColumnKind.TEXT if isinstance(data_type, (types.StringType, types.BooleanType)) else ColumnKind.OTHER


def _as_number(column: str, data_type: types.DataType) -> str:
    if isinstance(data_type, types.NumericType):
        return f"CAST({column} AS DOUBLE)"
    if isinstance(data_type, types.DateType):
        return f"CAST(unix_date({column}) * 86400000000D AS DOUBLE)"
    return f"CAST(unix_micros(CAST({column} AS TIMESTAMP)) AS DOUBLE)"


def _column(field: types.StructField, number: int, figures: Mapping[str, Any]) -> ColumnProfile:
    def told(part: str) -> Any:
        return figures.get(_named(number, part))

    values = told("values")
    frequent, distinct = told("frequent"), told("distinct")
    return ColumnProfile(
        field.name,
        kind_of(field.dataType),
        values,
        end_text(told("min")),
        end_text(told("max")),
        merge_distinct([bytes(distinct)]) if values and distinct is not None else None,
        _bytes(told("quantiles")) if values else None,
        _bytes(frequent["sketch"]) if values and frequent is not None else None,
    )


def _bytes(sketch: object) -> bytes | None:
    return None if sketch is None else bytes(sketch)  # type: ignore[call-overload]
