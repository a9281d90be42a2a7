"""Parses row images by the table's schema into values of the lake's types, for Debezium and Canal alike."""

import re
from collections.abc import Callable, Sequence
from functools import reduce
from operator import or_
from typing import Final, Literal

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from tidemark.capture.schema.column_names import MAX_CHARACTERS
from tidemark.capture.schema.lake_column_types import SourceColumn
from tidemark.capture.schema.row_encodings_of_scan import NUMBER, RowEncodings
from tidemark.capture.schema.source_types import DECIMALS
from tidemark.capture.schema.zero_dates import printed_date, sent_date
from tidemark.quoting.spark import quote
from tidemark.strict_json import json_text

Image = Literal["image", "prior"]
# Longer than any column name of a source, so it cannot collide.
_CORRUPT: Final = "_corrupt".ljust(MAX_CHARACTERS + 1, "_")
# A number within a day of the change's own time in milliseconds cannot be a time in microseconds.
_DAY_MS: Final = 86_400_000
_MILLISECOND_DIGITS: Final = 3
_OPTIONS: Final = {"columnNameOfCorruptRecord": _CORRUPT}


class ImageValues:
    """Reads row values in some encodings (`forms`).

    `with_text`: some records have the values as printed by the server.
    """

    def __init__(self, forms: RowEncodings, *, with_text: bool) -> None:
        self._forms = forms
        self._readers = [_Reader(number, row, with_text=with_text) for number, row in enumerate(forms.rows)]

    def parse_images(self, records: DataFrame, partition_by: str | None) -> DataFrame:
        """Adds the parsed images to `records`: the current (or deleted) row, and the prior row's partition column."""
        numbered = self._forms.number_encodings(records) if self._forms.are_many else records
        return numbered.withColumns(
            {
                f"{name}_{reader.number}": self._of_form(reader, image)
                for reader in self._readers
                for name, image in reader.images(partition_by).items()
            }
        )

    def value(self, name: str, image: Image) -> Column:
        """The value in the lake's type."""
        return self._chosen(lambda reader: reader.value(name, image))

    def text_of(self, name: str | None, image: Image) -> Column:
        """The value of the named column as text; NULL if there is no such column."""
        if name is None or not any(column.name == name for column in self._forms.rows[0]):
            return sf.lit(None).cast("string")
        return self.value(name, image).cast("string")

    def is_bad(self) -> Column:
        """Whether the image does not match the table's schema, or a value does not fit its type."""
        return ~sf.col("op").isin("c", "u", "d", "r") | self._chosen(lambda reader: reader.is_unfit())

    def is_altered(self) -> Column:
        """Whether a value has the form of another connector setting, so that digits may be lost or a time is wrong."""
        return self._chosen(lambda reader: reader.is_altered())

    def _of_form(self, reader: "_Reader", image: Column) -> Column:
        """The image, parsed only for records in the reader's form."""
        return sf.when(sf.col(NUMBER) == reader.number, image) if self._forms.are_many else image

    def _chosen(self, of: Callable[["_Reader"], Column]) -> Column:
        first, *others = self._readers
        if not others:
            return of(first)
        chosen = sf.when(sf.col(NUMBER) == first.number, of(first))
        for other in others:
            chosen = chosen.when(sf.col(NUMBER) == other.number, of(other))
        return chosen


class _Reader:
    """Reads rows in the form with this number."""

    def __init__(self, number: int, columns: Sequence[SourceColumn], *, with_text: bool) -> None:
        self.number = number
        self._columns = {column.name: column for column in columns}
        self._with_text = with_text

    def images(self, partition_by: str | None) -> dict[str, Column]:
        """The columns `image` and `prior` (the partition column only), and the same two for printed text."""
        row = sf.coalesce("after", "before")
        columns = list(self._columns.values())
        prior = [column for column in columns if column.name == partition_by]
        images = {"image": self._wire(row, columns)}
        images["prior"] = self._wire(sf.col("before"), prior) if prior else sf.lit(None)
        if self._with_text:
            images["image_text"] = _text(row, columns)
            images["prior_text"] = _text(sf.col("before"), prior) if prior else sf.lit(None)
        return images

    def value(self, name: str, image: Image) -> Column:
        """The value in the lake's type."""
        column = self._columns[name]
        wire = sf.expr(column.decode_sql(self._sent(image, column)))
        if not self._with_text:
            return wire
        text = sf.expr(column.from_text(self._printed(image, column)))
        return sf.when(sf.col("text"), text).otherwise(wire)

    def is_unfit(self) -> Column:
        """Whether the image cannot be parsed, or a value has no counterpart in the lake."""
        bad = self._is_unread()
        for column in self._columns.values():
            bad = bad | self._is_misfit(column)
        return bad

    def is_altered(self) -> Column:
        """Whether a decimal is a JSON number, or a DATETIME in microseconds was sent in milliseconds."""
        columns = self._columns.values()
        decimals = [column for column in columns if column.source_type.word in DECIMALS]
        altered = sf.lit(col=False)
        if decimals:
            # Search the whole row only if a decimal does not have the digits of its scale.
            odd = reduce(or_, (self._has_other_digits(column) for column in decimals))
            number = _number_of([column.source_name for column in decimals])
            altered = sf.when(odd, sf.coalesce("after", "before").rlike(number)).otherwise(altered)
        for column in columns:
            if column.source_type.word == "DATETIME" and (column.digits or 0) > _MILLISECOND_DIGITS:
                # The value may be any number, and the difference of two 64-bit integers can overflow.
                sent = sf.expr(self._sent("image", column)).cast("double")
                altered = altered | (sf.abs(sent - sf.col("event_ms")) < _DAY_MS)
        return sf.coalesce(~sf.col("text") & altered, sf.lit(col=False))

    def _has_other_digits(self, column: SourceColumn) -> Column:
        """Whether the text has more or fewer digits after the point than the column."""
        text, scale = sf.expr(self._sent("image", column)), column.source_type.scale or 0
        if not scale:
            return sf.contains(text, sf.lit("."))
        return sf.substring(text, -scale - 1, 1) != "."

    def _is_unread(self) -> Column:
        wire = self._is_corrupt("image")
        return sf.when(sf.col("text"), self._is_corrupt("image_text")).otherwise(wire) if self._with_text else wire

    def _is_corrupt(self, image: str) -> Column:
        return sf.col(f"{image}_{self.number}").isNull() | sf.col(f"{image}_{self.number}.{_CORRUPT}").isNotNull()

    def _is_misfit(self, column: SourceColumn) -> Column:
        """Whether there is a value, and the lake has no counterpart for it."""
        wire = self._sent("image", column)
        missed = sf.expr(wire).isNotNull() & sf.expr(column.decode_sql(wire)).isNull()
        misfit = missed if column.encoding.is_partial else sf.lit(col=False)
        if not self._with_text:
            return misfit
        text = self._printed("image", column)
        misprint = sf.expr(text).isNotNull() & sf.expr(column.from_text(text)).isNull()
        return sf.when(sf.col("text"), misprint).otherwise(misfit)

    def _sent(self, image: str, column: SourceColumn) -> str:
        return sent_date(column.source_type.word, f"{image}_{self.number}.{quote(column.source_name)}")

    def _printed(self, image: str, column: SourceColumn) -> str:
        return printed_date(column.source_type.word, f"{image}_text_{self.number}.{quote(column.source_name)}")

    def _wire(self, json: Column, columns: Sequence[SourceColumn]) -> Column:
        """The image in Debezium's form; NULL for printed values, which do not fit that form."""
        schema = ", ".join([*(column.wire_field for column in columns), f"{_CORRUPT} STRING"])
        read = sf.from_json(json, schema, _OPTIONS)
        return sf.when(~sf.col("text"), read) if self._with_text else read


def _number_of(names: Sequence[str]) -> str:
    """A regular expression that finds a JSON number in one of these columns of a row.

    Decimals are sent as text; a number has passed through a double, which may have cut digits. A quote inside a text
    has a backslash before it, so only a key of the row matches.
    """
    keys = "|".join(re.escape(json_text(name, ensure_ascii=False)[1:-1]) for name in names)
    return rf'(?<!\\)"(?:{keys})"\s*:\s*[-0-9]'


def _text(json: Column, columns: Sequence[SourceColumn]) -> Column:
    schema = ", ".join([*(f"{quote(column.source_name)} STRING" for column in columns), f"{_CORRUPT} STRING"])
    return sf.when(sf.col("text"), sf.from_json(json, schema, _OPTIONS))
