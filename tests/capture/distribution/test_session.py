"""A session whose producer has a fatal error ends as one that was lost."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from confluent_kafka import KafkaError, KafkaException

from tidemark.capture.distribution.session import DistributionSession


def test_a_member_leaves_the_group_even_if_its_producer_cannot_be_closed() -> None:
    closed: list[str] = []

    def fail() -> None:
        closed.append("producer")
        raise KafkaException(KafkaError(KafkaError.INVALID_TXN_STATE))

    session: Any = DistributionSession.__new__(DistributionSession)
    session._producer = SimpleNamespace(purge=lambda: None, close=fail)
    session.reader = SimpleNamespace(close=lambda: closed.append("reader"))
    with session:
        pass
    assert closed == ["producer", "reader"]
