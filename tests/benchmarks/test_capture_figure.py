"""The figure of capture at a small size: it counts what came out, and everything it says is there."""

from __future__ import annotations

from argparse import Namespace

import pytest

from benchmarks.capture import measure
from benchmarks.capture.messages import message
from resources.capture.distribution.physical import physical_of


@pytest.mark.components
@pytest.mark.long
def test_every_message_of_the_distribution_is_counted() -> None:
    found = measure(Namespace(parts=["distribution"], messages=200_000, members=1))
    assert found["messages"] == 200_000
    assert found["members"] == 1
    assert found["distribution_per_second"] > 1000
    assert 0 < found["rss_mb_start"] <= found["rss_mb_end"] * 2
    assert found["cpu_us_per_message"] > 0


def test_its_messages_are_debeziums_and_of_some_700_bytes() -> None:
    found = message("b", 123_457)
    assert physical_of(found.encode()) == "school.orders_1"
    assert 650 < len(found) < 850
