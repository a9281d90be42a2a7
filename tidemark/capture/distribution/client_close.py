"""Closes Kafka clients whose broker may be away.

`Producer.close()` ends an open transaction and waits for the broker's answer without a limit. `Consumer.close()` waits
for the answer when it leaves the group. Both wait in C code that no signal interrupts. The answers are not needed: the
next producer of the same name, or the broker after a timeout, ends a transaction, and the group drops a silent member.
"""

import warnings
from collections.abc import Callable
from contextlib import suppress
from threading import Thread

from confluent_kafka import KafkaException, Producer


def close_within(seconds: float, close: Callable[[], object]) -> bool:
    """Whether `close` returned within `seconds`; else a daemon thread goes on with it."""

    def run() -> None:
        with suppress(KafkaException, RuntimeError, RuntimeWarning):
            close()

    thread = Thread(target=run, name="close-kafka-client", daemon=True)
    # The client warns if it cannot end a transaction.
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):
        thread.start()
        thread.join(seconds)
    return not thread.is_alive()


def end_producer(producer: Producer) -> None:
    """Close a producer. Messages that still wait belong to no committed transaction, so they are dropped first."""
    producer.purge()
    producer.close()
