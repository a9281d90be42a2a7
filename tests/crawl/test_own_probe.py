"""A probe of a project's own, found by its entry point, gets the settings with their variables filled in."""

from __future__ import annotations

from importlib.metadata import EntryPoint, EntryPoints
from typing import TYPE_CHECKING

import pytest

from tests.crawl.source_world import look
from tidemark.crawl.errors import ProbeError
from tidemark.crawl.probes import own_probe
from tidemark.dependency_model.arrival.sighting import Sight

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.crawl.probed_slice import ProbeContext, ProbedSlice


def ftp_drop(settings: Mapping[str, str], probed: ProbedSlice, _context: ProbeContext) -> Sight:
    """What a project would write."""
    name = probed.text("{start:%Y%m%d}.done")
    if settings["token"] != "canary-token":
        raise ConnectionError(f"refused {settings['token']}")
    return Sight(is_there=name == "20260329.done", why=name, content=name, rows=5)


def nothing(_settings: object, _probed: object, _context: object) -> None:
    """A probe that forgets to answer."""


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [EntryPoint(name, f"{__name__}:{name}", own_probe.GROUP) for name in ("ftp_drop", "nothing")]
    monkeypatch.setattr(own_probe, "entry_points", lambda **wanted: EntryPoints(points).select(**wanted))


PROBE = "own: {entry_point: ftp_drop, settings: {token: '${TOKEN}'}}"


def test_it_reports_existing_data() -> None:
    env = {"TOKEN": "canary-token"}
    assert [look(PROBE, day, env=env).is_there for day in ("2026-03-29", "2026-03-30")] == [True, False]
    assert own_probe.installed() == ("ftp_drop", "nothing")


def test_its_errors_are_masked_and_missing_results_are_reported() -> None:
    with pytest.raises(ProbeError, match="the probe failed") as raised:
        look(PROBE, "2026-03-29", env={"TOKEN": "canary-wrong"})
    assert "canary" not in f"{raised.value} {raised.value.__dict__}"
    with pytest.raises(ProbeError, match="did not return a Sight"):
        look("own: {entry_point: nothing}", "2026-03-29")
