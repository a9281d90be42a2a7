"""The refresh figure, small: each event is refreshed, and nothing else is."""

from __future__ import annotations

import json

import pytest

from benchmarks.__main__ import main
from tests.components.availability import REDIS, require


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.components
def test_a_small_refresh_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    require(REDIS)
    main(["refresh", "--json", "--events", "20", "--days", "2", "--keys", "100"])
    figure = json.loads(capsys.readouterr().out)
    assert (figure["events"], figure["needless"], figure["missed"]) == (20, 0, 0)
    assert figure["event_to_refreshed_ms_p90"] < figure["ttl_ms_p90"]
