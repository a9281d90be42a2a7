"""Kafka's part without a broker: topics whose messages are given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.capture.source.kafka.broker_offsets import Bounds, Broker
from tidemark.capture.source.kafka.intake import KafkaIntake, OffsetRange
from tidemark.capture.source_table import topic_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from tidemark.system.errors import CaptureError

SCHEMA = "instance STRING, topic STRING, partition INT, offset BIGINT, key STRING, value STRING"
SentValues = dict[str, "Sequence[str | None]"]


class Known(Broker):
    """A broker of whose topics all is known."""

    def __init__(self, bounds: Mapping[str, Bounds]) -> None:
        super().__init__("nowhere:9092")
        self._bounds_of = {topic_of(name): offset_bounds for name, offset_bounds in bounds.items()}

    def look(self, topics: Iterable[str]) -> dict[str, Bounds | CaptureError]:
        return {topic: self._bounds_of[topic] for topic in topics}


class SentIntake(KafkaIntake):
    """What was sent to each instance's topic."""

    def __init__(
        self,
        values: SentValues,
        by_canal: Collection[str] = (),
        low: int = 0,
        topic_id: str = "",
        records: int = 500_000,
    ) -> None:
        bounds = {name: Bounds(low, len(sent), topic_id) for name, sent in values.items()}
        super().__init__(Known(bounds), by_canal, records)
        self._values = values

    def _messages(self, spark: SparkSession, ranges: Sequence[OffsetRange]) -> DataFrame:
        return messages(spark, self._values, ranges)


def messages(spark: SparkSession, values: SentValues, ranges: Sequence[OffsetRange]) -> DataFrame:
    """The messages in the ranges as Spark's reader gives them."""
    rows = [
        (span.instance, topic_of(span.instance), 0, offset, None, values[span.instance][offset])
        for span in ranges
        for offset in range(span.first_offset, span.end)
    ]
    return spark.createDataFrame(rows, SCHEMA)
