"""Changes of a school's orders as Debezium writes them: some 750 bytes, of which a third is the row."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from confluent_kafka import Producer

from tidemark.capture.source_table import SourceTable, topic_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

INSTANCES: Final = ("a", "b", "c", "d")
SHARDS: Final = 8
ORDERS: Final = SourceTable("ods_orders", "school.orders_*", INSTANCES, ("order_id",), None, ())
FIRST_MS: Final = 1_774_220_400_000
"""2026-03-22T23:00:00Z, midnight in Paris."""

_ROW: Final = (
    '{"order_id":%d,"user_id":%d,"course_id":%d,"amount":"129.00","status":"%s","note":null,'
    '"created_at":1774310399000,"paid_at":"2026-03-22T23:00:01Z"}'
)
_VALUE: Final = (
    '{"before":%s,"after":%s,"source":{"version":"3.5.0.Final","connector":"mariadb","name":"cdc.%s","ts_ms":%d,'
    '"snapshot":"false","db":"school","sequence":null,"ts_us":%d000,"ts_ns":%d000000,"table":"%s","server_id":1,'
    '"gtid":"0-1-%d","file":"binlog.000042","pos":%d,"row":0,"thread":17,"query":null},"transaction":null,"op":"%s",'
    '"ts_ms":%d,"ts_us":%d000,"ts_ns":%d000000}'
)
_COLUMNS: Final = {
    "order_id": ("BIGINT", None, None),
    "user_id": ("BIGINT", None, None),
    "course_id": ("BIGINT", None, None),
    "amount": ("DECIMAL", 10, 2),
    "status": ("VARCHAR", 16, None),
    "note": ("VARCHAR", 255, None),
    "created_at": ("DATETIME", None, None),
    "paid_at": ("TIMESTAMP", None, None),
}


def row(order_id: int, status: str) -> str:
    """A row of orders."""
    return _ROW % (order_id, order_id % 65_537, order_id % 997, status)


class BinlogWriter:
    """What one instance's connector writes: each message is a place further on."""

    def __init__(self, instance: str) -> None:
        self.instance = instance
        self.number = 0

    def change(self, table: str, op: str, before: str, after: str, at_ms: int) -> str:
        """An insert (`c`), update (`u`) or delete (`d`); the images are rows or `null`."""
        self.number += 1
        own, seen = self.number, at_ms + 90
        times = (at_ms, at_ms, at_ms)
        return _VALUE % (before, after, self.instance, *times, table, own, own * 431, op, seen, seen, seen)

    def heartbeat(self, at: datetime) -> str:
        """One minute's, of a writer whose clock is the server's."""
        beat = json.dumps({"id": 1, "beat_at": f"{at:%Y-%m-%dT%H:%M:%SZ}"})
        return self.change("heartbeat", "u", beat, beat, int(at.timestamp() * 1000))

    def created(self, table: str, at_ms: int) -> str:
        """A table like orders is there."""
        self.number += 1
        columns = [
            {"name": name, "typeName": kind, "length": length, "scale": scale, "position": position}
            for position, (name, (kind, length, scale)) in enumerate(_COLUMNS.items(), 1)
        ]
        change = {"type": "CREATE", "id": f'"school"."{table}"', "table": {"columns": columns}}
        place = {"ts_ms": at_ms, "db": "school", "table": table, "snapshot": "false", "file": "binlog.000042"}
        source = {**place, "pos": self.number * 431, "row": 0, "gtid": f"0-1-{self.number}"}
        return json.dumps({"source": source, "databaseName": "school", "ddl": "CREATE", "tableChanges": [change]})


def updates(instance: str, count: int) -> Iterable[str]:
    """So many updates, over all shards."""
    binlog = BinlogWriter(instance)
    for number in range(count):
        order_id, at_ms = number * 7919 % 1_000_003, FIRST_MS + 1_000 + number
        images = row(order_id, "new"), row(order_id, "paid")
        yield binlog.change(f"orders_{number % SHARDS}", "u", *images, at_ms)


def producer_of(servers: str) -> Producer:
    """Who sends the messages of a figure."""
    return Producer({"bootstrap.servers": servers, "linger.ms": 50, "queue.buffering.max.messages": 200_000})


def fill(servers: str, instances: Sequence[str], messages: Callable[[str], Iterable[str]]) -> tuple[int, float]:
    """Put its messages into the topic of each instance; how many, and the mean size of one in bytes."""
    producer = producer_of(servers)
    count = size = 0
    for instance in instances:
        for value in messages(instance):
            count, size = count + 1, size + len(value)
            produce(producer, topic_of(instance), value)
    if producer.flush(120):
        raise RuntimeError("the broker did not take the messages in time")
    return count, size / max(1, count)


def produce(producer: Producer, topic: str, value: str) -> None:
    """Send one message, when there is room for it."""
    while True:
        try:
            producer.produce(topic, value, '{"order_id":1}', 0)
        except BufferError:
            producer.poll(0.1)
        else:
            return
