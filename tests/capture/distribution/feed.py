"""Writes the instances' topics as connectors would, all the while, each message once whatever happens to the broker."""

from __future__ import annotations

import random
import time
from threading import Event, Thread
from typing import TYPE_CHECKING, Final, Self

from confluent_kafka import Producer

from tests.capture.distribution.stream import SHARDS, Numbered, instances, message

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message

# A burst now and then: members then hold whole transactions, and their ends move while they work.
_BURSTS: Final = (1, 10, 100, 1000)
_PAUSE_SECONDS: Final = 0.5
_MOST: Final = 2_000_000


class DistributionFeed:
    """Until it is stopped; what it made is known by then."""

    def __init__(self, servers: str, database: str, seed: int) -> None:
        # Idempotent and never giving up: what it counts is in the topic once, also after the broker died.
        settings = {"enable.idempotence": True, "message.timeout.ms": 0, "linger.ms": 5, "log_level": 0}
        self._producer = Producer({"bootstrap.servers": servers, **settings})
        self._chance = random.Random(seed)
        self._streams = [Numbered(instance, database) for instance in instances(database)]
        self._beats = {stream.instance: 0 for stream in self._streams}
        self._database = database
        self._stopped = Event()
        self._failed: list[str] = []
        self._thread = Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def stop(self) -> None:
        """End, when all of it is in the topics."""
        self._stopped.set()
        self._thread.join()
        assert self._producer.flush(120) == 0
        assert not self._failed, self._failed[:3]

    def count(self) -> int:
        """Changes of physical tables that were made so far."""
        return sum(sum(stream.counts.values()) for stream in self._streams)

    def expected(self) -> dict[str, list[int]]:
        """By key, what the logical topics have to hold."""
        return {key: numbers for stream in self._streams for key, numbers in stream.expected().items()}

    def beats(self) -> dict[str, list[int]]:
        """By key, what every partition has to hold of heartbeats."""
        return {f"{instance}.{self._database}.heartbeat": list(range(count)) for instance, count in self._beats.items()}

    def _run(self) -> None:
        while not self._stopped.is_set() and self.count() < _MOST:
            stream = self._chance.choice(self._streams)
            for _ in range(self._chance.choice(_BURSTS)):
                self._send(stream, stream.next(self._chance.choice(SHARDS)))
            self._others(stream)
            # Real time: what is fed is a real broker.
            time.sleep(self._chance.uniform(0, _PAUSE_SECONDS))

    def _others(self, stream: Numbered) -> None:
        number = self._beats[stream.instance]
        self._beats[stream.instance] = number + 1
        self._send(stream, message(self._database, "heartbeat", number))
        self._send(stream, self._chance.choice([None, message(self._database, "unrouted", 1), "no message at all"]))

    def _send(self, stream: Numbered, value: str | None) -> None:
        while True:
            try:
                self._producer.produce(f"cdc.{stream.instance}", value, "k", 0, on_delivery=self._delivered)
            except BufferError:
                self._producer.poll(0.1)
            else:
                self._producer.poll(0)
                return

    def _delivered(self, error: KafkaError | None, _: Message) -> None:
        if error is not None:
            self._failed.append(error.str())
