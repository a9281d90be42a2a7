"""The replication figure, small: nothing is torn, little is sent again, and every damage is found."""

from __future__ import annotations

import json

import pytest

from benchmarks.__main__ import main


@pytest.mark.long
@pytest.mark.slow
def test_a_small_replication_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    small = ("--files", "10", "--rows", "2000", "--rounds", "1", "--publishes", "30", "--kills", "2", "--plants", "40")
    main(["replicate", "--json", *small])
    figure = json.loads(capsys.readouterr().out)
    assert figure["publishes"] >= 30
    assert figure["bytes_sent_ratio"] <= 0.15
    assert (figure["torn_reads"], figure["mender_false"], figure["mender_left"]) == (0, 0, 0)
    assert figure["mender_found"] == figure["mender_planted"] == 40
