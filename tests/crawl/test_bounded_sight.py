"""Other systems' words and numbers: what no store keeps is a probe that failed, and stops nothing else."""

from __future__ import annotations

import math

import pytest

from tidemark.crawl.bounded_sight import bounded
from tidemark.crawl.errors import ProbeError
from tidemark.dependency_model.arrival.sighting import Sight

PLAIN = Sight(is_there=True, why="3 files", content="a", rows=5, version="7", watermark="2026-03-29T00:00:00+00:00")


def test_storable_results_are_unchanged() -> None:
    assert bounded(PLAIN) == PLAIN


@pytest.mark.parametrize(
    "sight",
    [
        Sight(is_there=True, why="", rows=2**70),
        Sight(is_there=True, why="", rows=-(2**64)),
        Sight(is_there=True, why="", version="\ud800"),
        Sight(is_there=True, why="", version="a\0"),
        Sight(is_there=True, why="", watermark="x" * 5_000),
        Sight(is_there=True, why="", watermark="a\nb"),
        Sight(is_there=True, why="", figures=(("n", math.inf),)),
        Sight(is_there=True, why="", measured=(("n", math.nan),)),
    ],
)
def test_unstorable_results_fail_the_probe(sight: Sight) -> None:
    with pytest.raises(ProbeError):
        bounded(sight)


def test_texts_become_one_storable_line() -> None:
    sight = bounded(Sight(is_there=False, why="state is \ud800\n\x1b[2J" + "x" * 2_000, content="\udfff"))
    assert sight.why.isprintable()
    assert len(sight.why) <= 500
    sight.content.encode()
