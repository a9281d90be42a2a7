"""Which offsets a pass reads, by what a broker has and how far the tables are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.capture.source.kafka.sent import Known
from tidemark.capture.source.kafka.broker_offsets import Bounds, Broker
from tidemark.capture.source.kafka.errors import BrokerDownError, OffsetsLostError, TopicShrunkError
from tidemark.capture.source.kafka.intake import KafkaIntake, OffsetRange


def test_a_topic_is_read_from_the_offset_on_that_the_tables_need() -> None:
    due = KafkaIntake(Known({"a": Bounds(0, 10), "b": Bounds(3, 5)})).due({"a": 4, "b": 5}, {}, 1)
    assert due.units == [OffsetRange("a", 4, 10)]
    assert not due.more
    assert due.problems == {}


def test_records_that_retention_dropped_are_said_and_hold_their_instance_alone() -> None:
    due = KafkaIntake(Known({"a": Bounds(7, 10), "b": Bounds(0, 5)})).due({"a": 4, "b": 0}, {}, 1)
    assert due.units == [OffsetRange("b", 0, 5)]
    assert isinstance(due.problems["a"], OffsetsLostError)
    assert "3 records expired in Kafka" in str(due.problems["a"])


def test_a_recreated_topic_is_not_read() -> None:
    due = KafkaIntake(Known({"a": Bounds(0, 2)})).due({"a": 4}, {}, 1)
    assert due.units == []
    assert isinstance(due.problems["a"], TopicShrunkError)


@given(st.integers(0, 100), st.integers(0, 100), st.integers(1, 30), st.integers(1, 4))
def test_passes_follow_each_other_without_hole_or_overlap(start: int, size: int, records: int, scale: int) -> None:
    intake, reached, end = KafkaIntake(Known({"a": Bounds(0, start + size)}), pass_records=records), start, start + size
    while (due := intake.due({"a": reached}, {}, scale)).units:
        (unit,) = due.units
        assert isinstance(unit, OffsetRange)
        assert unit.first_offset == reached < unit.end <= reached + records * scale
        assert due.more == (unit.end < end)
        reached = unit.end
    assert reached == end


def test_a_broker_that_does_not_answer_is_said() -> None:
    with pytest.raises(BrokerDownError, match=r"127\.0\.0\.1:1"):
        Broker("127.0.0.1:1", seconds=0.5).bounds(["cdc.a"])
