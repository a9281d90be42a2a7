"""The completeness figure in small: every planted fault is found, and nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from benchmarks.__main__ import main

if TYPE_CHECKING:
    import pytest


def test_a_small_roll_up_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    main(["completeness", "--json", "--tables", "3", "--days", "2", "--plants", "40"])
    figure = json.loads(capsys.readouterr().out)
    assert figure["windows"] == 3 * 2 * 288
    assert (figure["planted"], figure["detected"], figure["false_alarms"]) == (40, 40, 0)
    assert figure["counts_per_second"] > 0
    assert figure["rollup_us_p99"] >= figure["rollup_us_p50"]
