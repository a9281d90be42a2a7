"""The profile figure, small: without Spark, and with too few days for history."""

from __future__ import annotations

import json

import pytest

from benchmarks.__main__ import main


@pytest.mark.long
def test_a_small_shop_is_judged(capsys: pytest.CaptureFixture[str]) -> None:
    main(["profile", "--json", "--seed", "3", "--worlds", "1", "--days", "20", "--every", "19", "--rows", "0"])
    figure = json.loads(capsys.readouterr().out)
    assert (figure["seed"], figure["clean_slices"], figure["first_slices"], figure["faults"]) == (3, 20, 20, 14)
    assert set(figure["caught"]) == set(figure["caught_by_rows"])
    assert figure["caught"]["duplicates of 1 % in orders"] == 1.0
    assert "overhead_ratio_profile" not in figure
