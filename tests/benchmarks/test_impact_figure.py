"""The impact figure, small: every number is there, and the slow reference reaches the same slices."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from benchmarks.__main__ import figures, main

if TYPE_CHECKING:
    import pytest


def test_a_small_world_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert "impact" in figures()
    main(["impact", "--json", "--scale", "0.01", "--hours", "5"])
    figure = json.loads(capsys.readouterr().out)
    assert (figure["world_entities"], figure["differing"]) == (800, 0)
    assert figure["compared"] > 0
    assert (figure["tainted"], figure["taint_10k_s"] > 0) == (100, True)
    assert figure["closure_ms_most"] >= figure["closure_ms_p90"] >= figure["closure_ms"] > 0
