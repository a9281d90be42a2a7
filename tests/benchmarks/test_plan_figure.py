"""The plan figure, small: every number is there, and neither a change nor a slice is missed."""

from __future__ import annotations

import json

import pytest

from benchmarks.__main__ import figures, main


@pytest.mark.long
def test_a_small_world_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert "plan" in figures()
    main(["plan", "--json", "--scale", "0.11", "--days", "3", "--edits", "10"])
    figure = json.loads(capsys.readouterr().out)
    assert (figure["entities"], figure["outdated"], figure["touched"], figure["untold"]) == (220, 3, 6, 0)
    assert (figure["needless_rebuilds"], figure["edits"], figure["missed"]) == (0, 10, 0)
    assert figure["plan_s"] > 0
