"""The impact figure, small: every number is there, and the slow reference reaches the same slices."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from benchmarks.__main__ import figures, main
from benchmarks.impact import rebuilds
from benchmarks.impact.touched import Touched
from benchmarks.readiness.world import Need, ReadinessWorld, build
from tidemark.dependency_model.graph import DependencyGraph

if TYPE_CHECKING:
    import pytest

HOUR = datetime(2024, 6, 28, 15, tzinfo=UTC)
UNTIL = datetime(2024, 7, 1, tzinfo=UTC)
WORLD = ReadinessWorld(
    DependencyGraph.build([]),
    {"a": "hour", "b": "day", "c": "day", "d": "month", "e": "day", "f": "week"},
    {
        "a": [],
        "b": [Need("a", "all")],
        "c": [Need("b", "Set 0"), Need("c", "Set -1")],
        "d": [Need("c", "Range 0-6")],
        "e": [Need("f", "last_available")],
        "f": [Need("b", "all")],
    },
)


def test_a_small_world_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert "impact" in figures()
    main(["impact", "--json", "--scale", "0.01", "--hours", "5", "--backfills", "10"])
    figure = json.loads(capsys.readouterr().out)
    assert (figure["world_entities"], figure["differing"], figure["compared"]) == (800, 0, 5)
    assert figure["compared_most"] >= figure["slices"] > 0
    assert (figure["backfills"], figure["needless_rebuilds"], figure["missed_rebuilds"]) == (10, 0, 0)
    assert figure["rebuilds"] > 10
    assert (figure["tainted"], figure["taint_10k_s"] > 0) == (100, True)
    assert figure["closure_ms_most"] >= figure["closure_ms_p90"] >= figure["closure_ms"] > 0
    assert figure["closure_ms_first"] >= figure["closure_ms_most"]


def test_a_plan_with_a_slice_too_many_or_too_few_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = rebuilds.planned_from
    monkeypatch.setattr(rebuilds, "planned_from", lambda *asked: {*exact(*asked), ("task_000000", "2024-06-21")})
    world = build(0.01, "2024-01-01")
    more = rebuilds.measure_rebuilds(world, 3, UNTIL)
    monkeypatch.setattr(rebuilds, "planned_from", lambda *_: set())
    none = rebuilds.measure_rebuilds(world, 3, UNTIL)
    assert (more["needless_rebuilds"], more["missed_rebuilds"]) == (3, 0)
    assert (none["needless_rebuilds"], none["missed_rebuilds"]) == (0, more["rebuilds"] - 3)


def test_the_reference_equals_a_list_made_by_hand() -> None:
    days = ["2024-06-28", "2024-06-29", "2024-06-30", "2024-07-01"]
    assert Touched(WORLD, UNTIL).by([("a", HOUR)]) == {
        ("b", "2024-06-28"),
        *(("c", day) for day in days),
        ("f", "2024-06-24"),
        *(("e", day) for day in days[2:]),
        ("d", "2024-07"),
    }


def test_what_holds_nothing_ends_it_and_who_tells_has_read_the_newest() -> None:
    without_c = Touched(WORLD, UNTIL, is_there=lambda key: key != ("c", "2024-06-29"))
    assert {key for name, key in without_c.by([("a", HOUR)]) if name == "c"} == {"2024-06-28"}
    week = [("f", datetime(2024, 6, 17, tzinfo=UTC))]
    assert (
        len(Touched(WORLD, UNTIL).by(week)) == len(["06-23", "06-24", "06-25", "06-26", "06-27", "06-28", "06-29"]) + 2
    )
    told = Touched(WORLD, UNTIL, is_told=lambda key: key[1] > "2024-06-25").by(week)
    assert told == {("e", f"2024-06-{day}") for day in range(23, 30)}
