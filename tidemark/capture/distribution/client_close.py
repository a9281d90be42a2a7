"""Closing clients of a broker that may be away.

`Producer.close()` ends an open transaction and waits for the broker's answer without a limit, and `Consumer.close()`
waits for the answer to its leaving; both in C code that no signal interrupts. Nothing hangs on their answers: a
transaction is ended by the next producer of the same name or by the broker after its time, and a member that is silent
is left behind by its group.
"""

import warnings
from collections.abc import Callable
from contextlib import suppress
from threading import Thread

from confluent_kafka import KafkaException, Producer


def close_within(seconds: float, close: Callable[[], object]) -> bool:
    """Whether it was closed in that time; else a thread goes on with it, which keeps no process from ending."""

    def run() -> None:
        with suppress(KafkaException, RuntimeError, RuntimeWarning):
            close()

    thread = Thread(target=run, name="close-kafka-client", daemon=True)
    # Where a transaction cannot be ended, the client warns.
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):
        thread.start()
        thread.join(seconds)
    return not thread.is_alive()


def end_producer(producer: Producer) -> None:
    """What waits to be sent is no part of a transaction that is committed: it is thrown away first."""
    producer.purge()
    producer.close()
