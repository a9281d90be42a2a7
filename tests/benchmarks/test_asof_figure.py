"""The as-of figure, small: every number is there, and a replay of the day says the same."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from benchmarks.__main__ import figures, main

if TYPE_CHECKING:
    import pytest


def test_a_short_history_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert "asof" in figures()
    main(["asof", "--json", "--transitions", "27000"])
    figure = json.loads(capsys.readouterr().out)
    assert (figure["transitions"], figure["slices"], figure["differing"]) == (27_000, 4_500, 0)
    assert figure["asof_ms_most"] >= figure["asof_ms"] > 0
