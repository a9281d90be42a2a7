"""A table's images parsed with its schema, and their values in the lake's types, whatever envelope they came in."""

from collections.abc import Sequence
from typing import Literal

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from resources.capture.column_types import SourceColumn
from resources.delta.identifiers import quoted

Image = Literal["image", "prior"]
_OPTIONS = {"columnNameOfCorruptRecord": "_corrupt"}


class Values:
    """Reads the values of `columns`; `with_text` where some records have them as the server prints them."""

    def __init__(self, columns: Sequence[SourceColumn], *, with_text: bool) -> None:
        self._columns = columns
        self._with_text = with_text

    def parsed(self, records: DataFrame, partition_by: str | None) -> DataFrame:
        """`records` and `image`, the row after the change or the deleted one, and of `prior` only the partition."""
        prior = [column for column in self._columns if column.name == partition_by]
        added = {"image": self._wire(sf.coalesce("after", "before"), self._columns), "prior": sf.lit(None)}
        if prior:
            added["prior"] = self._wire(sf.col("before"), prior)
        if self._with_text:
            added["image_text"] = _text(sf.coalesce("after", "before"), self._columns)
            added["prior_text"] = _text(sf.col("before"), prior) if prior else sf.lit(None)
        return records.withColumns(added)

    def value(self, column: SourceColumn, image: Image) -> Column:
        """The lake's value."""
        wire = sf.expr(column.decoded(f"{image}.{quoted(column.name)}"))
        if not self._with_text:
            return wire
        return sf.when(sf.col("text"), sf.expr(column.from_text(f"{image}_text.{quoted(column.name)}"))).otherwise(wire)

    def printed(self, name: str | None, image: Image) -> Column:
        """The value of the column of that name as text; NULL when there is none."""
        for column in self._columns:
            if column.name == name:
                return self.value(column, image).cast("string")
        return sf.lit(None).cast("string")

    def is_bad(self) -> Column:
        """The image does not parse with the table's schema, or a value does not fit its type."""
        bad = ~sf.col("op").isin("c", "u", "d", "r") | self._is_unread("image")
        for column in self._columns:
            bad = bad | self._is_misfit(column)
        return bad

    def _is_unread(self, image: str) -> Column:
        wire = sf.col(image).isNull() | sf.col(f"{image}._corrupt").isNotNull()
        if not self._with_text:
            return wire
        text = sf.col(f"{image}_text").isNull() | sf.col(f"{image}_text._corrupt").isNotNull()
        return sf.when(sf.col("text"), text).otherwise(wire)

    def _is_misfit(self, column: SourceColumn) -> Column:
        """There is a value, and the lake has none for it."""
        name = quoted(column.name)
        wire = sf.col(f"image.{name}").isNotNull() & sf.expr(column.decoded(f"image.{name}")).isNull()
        misfit = wire if "TRY_" in column.decode else sf.lit(col=False)
        if not self._with_text:
            return misfit
        text = f"image_text.{name}"
        return sf.when(sf.col("text"), sf.col(text).isNotNull() & sf.expr(column.from_text(text)).isNull()).otherwise(
            misfit
        )

    def _wire(self, json: Column, columns: Sequence[SourceColumn]) -> Column:
        """In Debezium's forms; NULL for printed values, which those would not fit."""
        schema = ", ".join([*(column.wire_field for column in columns), "_corrupt STRING"])
        read = sf.from_json(json, schema, _OPTIONS)
        return sf.when(~sf.col("text"), read) if self._with_text else read


def _text(json: Column, columns: Sequence[SourceColumn]) -> Column:
    schema = ", ".join([*(f"{quoted(column.name)} STRING" for column in columns), "_corrupt STRING"])
    return sf.when(sf.col("text"), sf.from_json(json, schema, _OPTIONS))
