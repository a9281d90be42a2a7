"""A topic by its offsets at two timestamps. No record is read, and no consumer group is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confluent_kafka import Consumer, KafkaException, TopicPartition

from tidemark.crawl.errors import ProbeError
from tidemark.crawl.topic_rows import SETTINGS, offsets_text
from tidemark.crawl.watermark import AHEAD
from tidemark.dependency_model.arrival.sighting import Sight
from tidemark.system.kafka_client import librdkafka

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from tidemark.crawl.probed_slice import ProbeContext, ProbedSlice
    from tidemark.dependency_model.entity.probe import KafkaProbe


def look(source: KafkaProbe, probed: ProbedSlice, context: ProbeContext) -> Sight:
    """See KafkaProbe. A record more than five minutes ahead of our clock does not end a window."""
    window = probed.window
    if window is None:
        raise ProbeError("a topic can only be probed by time windows", found=str(probed.slice))
    consumer = Consumer({**librdkafka(context.secrets.fill(source.servers)), **SETTINGS})
    try:
        topic = TopicOffsets(consumer, source.topic, context.timeout_seconds)
        starts, ends, ahead = (topic.offsets(when) for when in (window.start, window.end, context.clock() + AHEAD))
        highs = topic.highs()
    except KafkaException as error:
        raise ProbeError("the brokers did not answer", found=context.secrets.mask(str(error.args[0]))[:300]) from None
    finally:
        consumer.close()
    return sight_of(starts, ends, ahead, highs, topic.numbers)


def sight_of(
    starts: Sequence[int], ends: Sequence[int], ahead: Sequence[int], highs: Sequence[int], numbers: Sequence[int] = ()
) -> Sight:
    """The result from offsets by partition:

    of the window's start and end, of the first record too far ahead, and the next.

    `numbers` are the partitions, by default from 0.
    """
    first = [min(start, high) for start, high in zip(starts, highs, strict=True)]
    last = [min(end, high) for end, high in zip(ends, highs, strict=True)]
    open_ones = [
        number
        for number, (end, too_late, high) in enumerate(zip(last, ahead, highs, strict=True))
        if end >= min(too_late, high)
    ]
    rows = sum(end - start for start, end in zip(first, last, strict=True))
    if open_ones:
        return Sight(is_there=False, why=f"partition {open_ones[0]} has no record after the window yet", rows=rows)
    version = offsets_text(dict(zip(numbers or range(len(highs)), zip(first, last, strict=True), strict=True)))
    why = f"{rows} records in {len(highs)} partitions"
    return Sight(is_there=True, why=why, content=f"{first} {last}", rows=rows, version=version)


class TopicOffsets:
    """One topic's offsets, with the caller's consumer. Raises ProbeError for an unknown topic."""

    def __init__(self, consumer: Consumer, name: str, seconds: int) -> None:
        self._consumer, self._name, self._seconds = consumer, name, float(seconds)
        metadata = consumer.list_topics(name, timeout=self._seconds).topics[name]
        if metadata.error is not None or not metadata.partitions:
            raise ProbeError("the topic does not exist", found=name)
        self.numbers = sorted(metadata.partitions)

    def offsets(self, when: datetime) -> list[int]:
        """By partition, the first offset of a record at `when` or later; a very large offset if there is none."""
        milliseconds = int(when.timestamp() * 1000)
        asked = [TopicPartition(self._name, number, milliseconds) for number in self.numbers]
        answers = self._consumer.offsets_for_times(asked, timeout=self._seconds)
        return [answer.offset if answer.offset >= 0 else 1 << 62 for answer in answers]

    def highs(self) -> list[int]:
        """By partition, the offset of the next record."""
        asked = [TopicPartition(self._name, number) for number in self.numbers]
        return [self._consumer.get_watermark_offsets(place, timeout=self._seconds)[1] for place in asked]
