"""The figure of shared sessions at a small size: both ways compute all slices, and say what they took."""

from __future__ import annotations

from argparse import Namespace

import pytest

from benchmarks.sessions import measure

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.timeout(600)]


def test_both_ways_are_measured() -> None:
    figures = measure(Namespace(rounds=1))
    for way in ("shared", "each"):
        assert 0 < figures[way]["seconds_per_slice"] < figures[way]["cpu_s_per_slice"] * 10
        assert figures[way]["rss_mb"] > 100
    assert figures["each"]["rss_mb"] > figures["shared"]["rss_mb"]
    assert figures["wall_ratio"] > 0
    assert figures["cpu_ratio"] > 0
