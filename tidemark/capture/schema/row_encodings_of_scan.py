"""The forms of a scan's rows: nearly always one, more while a table's shards are being altered."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from tidemark.capture.schema.lake_column_types import SourceColumn
from tidemark.capture.schema.table_columns import TableColumns

Row = tuple[SourceColumn, ...]
NUMBER = "_form"
_TURN = "instance STRING, physical STRING, turned BIGINT, form INT"


class EncodingChange(NamedTuple):
    """From `offset` on, rows of a physical table have form number `form`."""

    instance: str
    physical: str
    offset: int
    form: int


@dataclass(frozen=True)
class RowEncodings:
    """The distinct forms of rows, and the offsets where shards change form."""

    rows: Sequence[Row]
    turns: Sequence[EncodingChange]

    @property
    def are_many(self) -> bool:
        """Whether a row's form has to be looked up."""
        return len(self.rows) > 1

    def number_encodings(self, records: DataFrame) -> DataFrame:
        """The change records with the number of their form."""
        turns = records.sparkSession.createDataFrame([*map(tuple, self.turns)], _TURN)
        taken = sf.sort_array(sf.collect_list(sf.struct("turned", "form")))
        by_shard = turns.groupBy("instance", "physical").agg(taken.alias("turns"))
        before = sf.filter("turns", lambda turn: turn["turned"] <= sf.col("offset"))
        encoded = records.join(sf.broadcast(by_shard), ["instance", "physical"], "left")
        return encoded.withColumn(NUMBER, sf.try_element_at(before, sf.lit(-1))["form"]).drop("turns")


def row_encodings(columns: TableColumns, shards: Iterable[tuple[str, str]], starts: Mapping[str, int]) -> RowEncodings:
    """The forms of rows of `shards` (instance, physical table) from the offsets `starts` (by instance) on."""
    numbers: dict[Row, int] = {}
    turns: list[EncodingChange] = []
    for instance, physical in sorted(shards):
        shard, start = f"{instance}.{physical}", starts[instance]
        for offset in (start, *(turn for turn in columns.turns_of(shard) if turn > start)):
            row = columns.row_at(shard, offset)
            turns.append(EncodingChange(instance, physical, offset, numbers.setdefault(row, len(numbers))))
    return RowEncodings(list(numbers) or [columns.lake], turns)
