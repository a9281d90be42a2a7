"""The intake of records from Kafka, exactly once: a pass reads fixed offsets, and the tables' commits store progress.

It uses Spark's batch reader by offsets. A streaming query would keep a second record of offsets in its checkpoint, and
a failed table could not fall behind the others. A pass is like a micro-batch of `availableNow`; a call every few
minutes is like the continuous trigger.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from tidemark.capture.source.envelope import canal, debezium
from tidemark.capture.source.envelope.change_record import route
from tidemark.capture.source.intake import Due
from tidemark.capture.source.kafka.broker_offsets import Bounds, Broker
from tidemark.capture.source.kafka.errors import OffsetsLostError, TopicReplacedError, TopicShrunkError
from tidemark.capture.source.scan import Scan, open_scan
from tidemark.capture.source.scan_summary import summarize
from tidemark.capture.source_table import SourceTable, topic_of
from tidemark.errors import TidemarkError
from tidemark.strict_json import json_text
from tidemark.system.errors import CaptureError
from tidemark.system.kafka_client import KafkaSecurity
from tidemark.system.settings import Settings

# Records of all instances that a pass caches and parses.
PASS_RECORDS = 500_000


@dataclass(frozen=True)
class OffsetRange:
    """Offsets `[first_offset, end)` of an instance's topic."""

    instance: str
    first_offset: int
    end: int

    @property
    def records(self) -> int:
        """The number of records, including records that are not changes."""
        return self.end - self.first_offset


class KafkaIntake:
    """The topics of the tables' instances. Instances in `by_canal` have Canal's messages, others Debezium's."""

    def __init__(self, broker: Broker, by_canal: Collection[str] = (), pass_records: int = PASS_RECORDS) -> None:
        self._broker = broker
        self._by_canal = frozenset(by_canal)
        self._pass_records = pass_records

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls(Broker(settings.kafka), settings.by_canal)

    def due(self, next_offsets: Mapping[str, int], refused: Mapping[str, int], scale: float) -> Due:
        """The ranges of each topic after its instance's offset, up to the size of a pass.

        Raises BrokerDownError. An error of one topic becomes a problem of its instance.
        """
        looked = self._broker.look([topic_of(instance) for instance in next_offsets])
        problems = {name: bad for name in next_offsets if isinstance(bad := looked[topic_of(name)], CaptureError)}
        wanted = {
            name: (offset, bounds)
            for name, offset in next_offsets.items()
            if isinstance(bounds := looked[topic_of(name)], Bounds)
        }
        problems |= {name: lost for name, wish in wanted.items() if (lost := _problem(topic_of(name), *wish))}
        share = max(1, int(self._pass_records * scale) // max(1, len(next_offsets)))
        ranges = [
            OffsetRange(instance, offset, min(bounds.high, offset + share))
            for instance, (offset, bounds) in wanted.items()
            if instance not in problems and instance not in refused and bounds.high > offset
        ]
        more = any(span.end < wanted[span.instance][1].high for span in ranges)
        return Due(ranges, more, problems, {name: bounds.topic_id for name, (_, bounds) in wanted.items()})

    def scan(self, spark: SparkSession, due: Due, tables: Sequence[SourceTable], reached: Mapping[str, int]) -> Scan:  # noqa: ARG002 - ranges begin there
        """Read the ranges. Raises TopicReplacedError if a topic was created again since `due`."""
        ranges = [unit for unit in due.units if isinstance(unit, OffsetRange)]
        scan = scan_messages(self._messages(spark, ranges), ranges, tables, self._by_canal)
        try:
            self._check_ids(due)
        except TidemarkError:
            scan.close()
            raise
        return scan

    def _check_ids(self, due: Due) -> None:
        now = self._broker.bounds([topic_of(unit.instance) for unit in due.units])
        for unit in due.units:
            topic = topic_of(unit.instance)
            if now[topic].topic_id != due.topic_ids.get(unit.instance, now[topic].topic_id):
                raise TopicReplacedError.of(topic, due.topic_ids[unit.instance], now[topic].topic_id)

    def _messages(self, spark: SparkSession, ranges: Sequence[OffsetRange]) -> DataFrame:
        topics = {topic_of(span.instance): span for span in ranges}
        options = {
            "kafka.bootstrap.servers": self._broker.bootstrap_servers,
            **KafkaSecurity.load().java("kafka."),
            "assign": json_text({topic: [0] for topic in topics}),
            "startingOffsets": json_text({topic: {"0": span.first_offset} for topic, span in topics.items()}),
            "endingOffsets": json_text({topic: {"0": span.end} for topic, span in topics.items()}),
            "failOnDataLoss": "true",
            # A task reads one topic. The defaults would be 1 MB and 500 records for each fetch.
            "kafka.max.partition.fetch.bytes": "16777216",
            "kafka.max.poll.records": "5000",
            # A topic has one partition, which is split so that all cores parse.
            "minPartitions": str(max(len(topics), spark.sparkContext.defaultParallelism)),
        }
        messages = spark.read.format("kafka").options(**options).load()
        return messages.select(
            sf.substring(sf.col("topic"), sf.lit(len(topic_of("")) + 1), sf.length("topic")).alias("instance"),
            "topic",
            "partition",
            "offset",
            sf.col("key").cast("string").alias("key"),
            sf.col("value").cast("string").alias("value"),
        )


def _problem(topic: str, offset: int, bounds: Bounds) -> CaptureError | None:
    if bounds.low > offset:
        return OffsetsLostError.of(topic, offset, bounds.low)
    if bounds.high < offset:
        return TopicShrunkError.of(topic, offset, bounds.high)
    return None


def scan_messages(
    messages: DataFrame, ranges: Sequence[OffsetRange], tables: Sequence[SourceTable], by_canal: Collection[str]
) -> Scan:
    """Summarize the messages (columns instance, topic, partition, offset, key, value) in `ranges`."""
    canals = {span.instance for span in ranges} & set(by_canal)
    is_canals = sf.col("instance").isin(*canals)
    records = debezium.read_messages(messages.where(~is_canals) if canals else messages)
    if canals:
        records = records.unionByName(canal.read_messages(messages.where(is_canals)))
    with_text = bool(canals)
    return open_scan(route(records, tables), lambda view, cached: _scan(view, cached, ranges, with_text=with_text))


def _scan(view: str, records: DataFrame, ranges: Sequence[OffsetRange], *, with_text: bool) -> Scan:
    summary = summarize(records, {span.instance: span.first_offset for span in ranges})
    return Scan(
        view=view,
        records=records,
        summary=summary,
        ends={span.instance: span.end for span in ranges},
        repeated=False,
        gaps={},
        place=lambda instance, offset: f"{topic_of(instance)} offset {offset}",
        with_text=with_text,
        poison=summary.bad,
    )
