"""The recording: each instance's topic in the order of offsets, cut into files at Paris midnights.

One JSON object a line: topic, partition, offset, and key and value exactly as Debezium produced them, less the times at
which capture processed them, so that a recording depends on the workload only. A value of null is a tombstone.
"""

from __future__ import annotations

import json
import lzma
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from confluent_kafka import Consumer, Message, TopicPartition

from tests.components.errors import RecordingError
from tests.components.workload import clock

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date
    from pathlib import Path

_PROCESSING_TIMES = ("ts_ms", "ts_us", "ts_ns")
_REPEATED_EVENT_TIMES = ("ts_us", "ts_ns")
_OPERATIONS = {"c": "insert", "u": "update", "d": "delete"}
_PATIENCE_SECONDS = 60.0
_AGAIN = "record again"

Json = dict[str, Any]
Tally = Counter[tuple[str, str]]


@dataclass
class Recorded:
    """What was recorded of a topic: number of records, files, and row changes by (table, operation)."""

    records: int = 0
    files: list[Path] = field(default_factory=list)
    changes: Tally = field(default_factory=Counter)


def record_topic(bootstrap_servers: str, topic: str, last_event: int, directory: Path) -> Recorded:
    """Write a topic's records to `directory`/<day>.jsonl.xz, up to the one whose event time reaches `last_event`.

    `last_event` is an instant (epoch seconds). RecordingError when it does not arrive or offsets are missing.
    """
    directory.mkdir(parents=True, exist_ok=True)
    for stale in directory.glob("*.jsonl.xz"):
        stale.unlink()
    recorded = Recorded()
    for day, dated in groupby(_with_day(_records(bootstrap_servers, topic, last_event)), key=itemgetter(0)):
        path = directory / f"{day}.jsonl.xz"
        with lzma.open(path, "wb", preset=9 | lzma.PRESET_EXTREME) as file:
            for _, record in dated:
                file.write(_line(record))
                _count(recorded, record)
        recorded.files.append(path)
    return recorded


def event_time(record: Json) -> int | None:
    """The instant (epoch seconds) of a record's event; None for a tombstone, which belongs to the delete before it."""
    value = record["value"]
    return None if value is None else int(value["source"]["ts_ms"]) // 1000


def _with_day(records: Iterable[Json]) -> Iterator[tuple[date, Json]]:
    """Each record with the day of its file: the latest Paris day that an event up to it has reached."""
    latest = 0
    for record in records:
        latest = max(latest, event_time(record) or 0)
        yield clock.wall(latest).date(), record


def _records(bootstrap_servers: str, topic: str, last_event: int) -> Iterator[Json]:
    settings = {"bootstrap.servers": bootstrap_servers, "group.id": f"recorder-{topic}", "log_level": 3}
    with closing(Consumer({**settings, "enable.auto.commit": False})) as consumer:
        consumer.assign([TopicPartition(topic, 0, 0)])
        expected, at = 0, 0
        while at < last_event:
            message = consumer.poll(_PATIENCE_SECONDS)
            if message is None or message.error() is not None:
                raise RecordingError(
                    f"the recording of topic {topic} stopped",
                    expected=f"an event at {clock.utc(last_event)} UTC",
                    found=f"none up to offset {expected} ({message.error() if message else 'nothing arrives'})",
                    hint="see the log of Kafka Connect",
                )
            if message.offset() != expected:
                raise RecordingError(
                    f"topic {topic} has a gap", expected=f"offset {expected}", found=str(message.offset()), hint=_AGAIN
                )
            record = _record(message)
            expected, at = expected + 1, max(at, event_time(record) or 0)
            yield record


def _record(message: Message) -> Json:
    key, value = message.key(), message.value()
    return {
        "topic": message.topic(),
        "partition": message.partition(),
        "offset": message.offset(),
        "key": None if key is None else json.loads(key),
        "value": None if value is None else _without_processing_times(json.loads(value)),
    }


def _without_processing_times(value: Json) -> Json:
    source = {name: content for name, content in value["source"].items() if name not in _REPEATED_EVENT_TIMES}
    kept = {name: content for name, content in value.items() if name not in _PROCESSING_TIMES}
    return {**kept, "source": source}


def _line(record: Json) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _count(recorded: Recorded, record: Json) -> None:
    recorded.records += 1
    value = record["value"]
    if value is not None and "op" in value:
        recorded.changes[value["source"]["table"], _OPERATIONS[value["op"]]] += 1
