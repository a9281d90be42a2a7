"""Changes of a school's orders as Debezium writes them: some 700 bytes, of which a third is the row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from confluent_kafka import Producer

from resources.capture.source import SourceTable, topic_of

if TYPE_CHECKING:
    from collections.abc import Sequence

INSTANCES: Final = ("a", "b", "c", "d")
SHARDS: Final = 8
ORDERS: Final = SourceTable("ods_orders", "school.orders_*", INSTANCES, ("order_id",), None, ())

_ROW: Final = (
    '{"order_id":%d,"user_id":%d,"course_id":%d,"amount":"129.00","status":"%s","note":null,'
    '"created_at":1774310399000,"paid_at":"2026-03-22T23:00:01Z"}'
)
_VALUE: Final = (
    '{"before":%s,"after":%s,"source":{"version":"3.5.0.Final","connector":"mariadb","name":"cdc.%s","ts_ms":%d,'
    '"snapshot":"false","db":"school","sequence":null,"ts_us":%d000,"ts_ns":%d000000,"table":"orders_%d","server_id":1,'
    '"gtid":"0-1-%d","file":"binlog.000042","pos":%d,"row":0,"thread":17,"query":null},"transaction":null,"op":"u",'
    '"ts_ms":%d,"ts_us":%d000,"ts_ns":%d000000}'
)
_FIRST_MS: Final = 1_774_220_401_000


def message(instance: str, number: int) -> str:
    """The update number `number` of an instance."""
    at = _FIRST_MS + number
    before, after = (_ROW % (number * 7919 % 1_000_003, number % 65_537, number % 997, one) for one in ("new", "paid"))
    shard = number % SHARDS
    return _VALUE % (before, after, instance, at, at, at, shard, number, number * 431, at + 90, at + 90, at + 90)


def fill(servers: str, instances: Sequence[str], each: int) -> int:
    """Put so many messages into the topic of each instance; the mean size of one in bytes."""
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 50, "queue.buffering.max.messages": 200_000})
    size = 0
    for instance in instances:
        for number in range(each):
            value = message(instance, number)
            size += len(value)
            _produce(producer, topic_of(instance), value, f'{{"order_id":{number}}}')
    if producer.flush(120):
        raise RuntimeError("the broker did not take the messages in time")
    return round(size / (each * len(instances)))


def _produce(producer: Producer, topic: str, value: str, key: str) -> None:
    while True:
        try:
            producer.produce(topic, value, key, 0)
        except BufferError:
            producer.poll(0.1)
        else:
            return
