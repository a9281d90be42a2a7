"""Records of a topic between offsets, as rows: each record's value is a JSON object, read like a line of a file."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from tidemark.crawl.errors import ProbeError
from tidemark.crawl.folders import Folder
from tidemark.crawl.outside_rows import OutsideRows
from tidemark.system.kafka_client import librdkafka

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

SETTINGS: Final = {"group.id": "tidemark.probe", "enable.auto.commit": False, "log_level": 0}
_RANGE: Final = re.compile(r"(\d+):(\d+)-(\d+)")
_SECONDS: Final = 10.0
_PATIENCE: Final = 6
"""The empty answers in a row after which the brokers count as silent."""
_AT_ONCE: Final = 10_000

Offsets = dict[int, tuple[int, int]]
"""For each partition, `[first, end)`."""


def offsets_text(offsets: Mapping[int, tuple[int, int]]) -> str:
    """`0:5-9 1:3-7`: partition, first offset, and the offset after the last."""
    return " ".join(f"{number}:{first}-{end}" for number, (first, end) in sorted(offsets.items()))


def offsets_of(text: str) -> Offsets:
    """The inverse of `offsets_text`; empty for any other text."""
    return {int(number): (int(first), int(end)) for number, first, end in _RANGE.findall(text)}


def topic_table(servers: str, topic: str, offsets: Offsets) -> pa.Table | None:
    """The rows between offsets; None without a record.

    Raises ProbeError if brokers do not answer, the topic has dropped records, or a record is not JSON.
    """
    consumer = Consumer({**librdkafka(servers), **SETTINGS, "enable.partition.eof": True})
    with tempfile.TemporaryDirectory(prefix="tidemark-topic-") as place:
        file = Path(place) / f"{topic}.jsonl"
        try:
            with file.open("wb") as lines:
                for number, (first, end) in sorted(offsets.items()):
                    place_ = TopicPartition(topic, number, first)
                    lines.writelines(value.replace(b"\n", b" ") + b"\n" for value in _values(consumer, place_, end))
        except KafkaException as error:
            raise ProbeError("the brokers did not answer", found=str(error.args[0])[:300]) from None
        finally:
            consumer.close()
        folder = Folder.at(str(place))
        return OutsideRows(folder, folder.files()).table() if file.stat().st_size else None


def _values(consumer: Consumer, place: TopicPartition, end: int) -> Iterator[bytes]:
    """The values of a partition's records up to an offset. A record without a value deletes a key, and is left out."""
    if place.offset >= end:
        return
    low, _ = consumer.get_watermark_offsets(place, timeout=_SECONDS)
    if low > place.offset:
        name = f"{place.topic}, partition {place.partition}"
        raise ProbeError(
            "Kafka has dropped records of a topic", expected=f"offset {place.offset}", found=str(low), where=name
        )
    consumer.assign([place])
    position: int = place.offset
    silent = 0
    while position < end:
        messages = consumer.consume(_AT_ONCE, _SECONDS)
        silent = 0 if messages else silent + 1
        if silent >= _PATIENCE:
            raise ProbeError("the brokers did not answer", expected=f"records of {place.topic} up to offset {end}")
        for message in messages:
            error = message.error()
            if error is not None and error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001 - it has no other name
                raise KafkaException(error)
            position = end if error is not None else (message.offset() or 0) + 1
            value = None if error is not None or position > end else message.value()
            if value is not None:
                yield value
