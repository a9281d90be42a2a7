"""The crawl figure, small: the store answers, and nothing is believed before it is there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from benchmarks.__main__ import main

if TYPE_CHECKING:
    import pytest


def test_a_small_crawl_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    main(["crawl", "--json", "--waiters", "500", "--tables", "25"])
    figure = json.loads(capsys.readouterr().out)
    assert figure["hit_ratio"] >= 0.95
    assert figure["false_ready"] == 0
    assert figure["poller_probes"] == 20 * figure["probes"]
    assert figure["detect_delay_s_p90"] <= figure["poller_delay_s_p90"]
