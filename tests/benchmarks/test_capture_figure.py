"""The figure of capture at a small size: it counts what came out, and everything it says is there."""

from __future__ import annotations

import json
import subprocess
import sys
from argparse import Namespace

import pytest

from benchmarks.capture import measure
from benchmarks.capture.messages import updates
from tidemark.capture.distribution.physical_table_of_message import physical_of


@pytest.mark.components
@pytest.mark.long
def test_every_message_of_the_distribution_is_counted() -> None:
    figures = measure(Namespace(parts=["distribution"], messages=200_000, members=1))
    assert figures["messages"] == 200_000
    assert figures["members"] == 1
    assert figures["distribution_per_second"] > 1000
    assert 0 < figures["distribution_rss_mb_start"] <= figures["distribution_rss_mb_end"] * 2
    assert figures["cpu_us_per_message"] > 0


@pytest.mark.components
@pytest.mark.spark
@pytest.mark.long
def test_merged_rows_are_compared_and_measured() -> None:
    options = [
        "--json",
        "--parts",
        "ingest",
        "snapshots",
        "growth",
        "--changes",
        "20000",
        "--tables",
        "3",
        "--rows",
        "20000",
    ]
    command = [sys.executable, "-m", "benchmarks", "capture", *options]
    figures = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert (figures["changes"], figures["shards"], figures["snapshots"], figures["tables"]) == (20_000, 100, 5, 3)
    assert figures["changes_per_second"] > 100
    assert 0 < figures["snapshot_delay_s_max"] < 120
    assert 0.1 < figures["hourly_cost_ratio_10x"] < 10
    assert 0 < figures["rss_mb_start"] <= figures["rss_mb_end"] * 2


def test_its_messages_are_debeziums_and_of_some_700_bytes() -> None:
    update = list(updates("b", 2))[1]
    assert physical_of(update.encode()) == "school.orders_1"
    assert 650 < len(update) < 850
