"""The baseline figure, small: every number is there, a seed replays it, and the simulation keeps its own rules."""

from __future__ import annotations

import json
import random

import pytest

from benchmarks.__main__ import figures, main
from benchmarks.baseline.replay import measure_replay
from benchmarks.baseline.simulated_company import draw_company
from benchmarks.baseline.simulated_days import DAY, HOUR, SimulatedDays
from tests.dependency_model.world import graph
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import RunState
from tidemark.state_store.timings import Timing


@pytest.mark.long
def test_a_small_company_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert "baseline" in figures()
    main(["baseline", "--json", "--scale", "0.005", "--events", "20", "--days", "1", "--overloads", "1", "--seed", "5"])
    figure = json.loads(capsys.readouterr().out)
    assert (figure["entities"], figure["seed"], figure["promises"]) == (400, 5, 12)
    assert figure["slices"] > 400
    assert figure["large_update_slices"] > 1
    assert len(figure["coverage_p90_by_hour"]) == 24
    assert 0.6 < figure["coverage_p90"] <= 1.0
    assert 0 < figure["promises_kept_ratio"] <= 1
    assert {"forecast_s", "update_ms_p99", "late_found_before_min_p50", "false_alarms"} <= figure.keys()


def test_the_simulation_starts_nothing_before_its_inputs_and_holds_the_slots() -> None:
    seed = random.randrange(2**32)
    company = draw_company(random.Random(seed))
    days = SimulatedDays(company, 3, random.Random(seed)).run()
    under_way, most, started = 0, 0, dict[tuple[str, int], float]()
    for at, name, hour, what in days.happened:
        under_way += {"started": 1, "failed": -1, "completed": -1, "arrived": 0}[what]
        most = max(most, under_way)
        if what == "started":
            started[name, hour] = at
    assert (most, under_way) == (company.slots, 0), seed
    for (name, hour), at in started.items():
        table = company.tables[name]
        length = 1 if table.is_hourly else 24
        needed = [(up, hour - back * length) for up, back in table.inputs if hour >= back * length]
        needed += [(up, hour + more) for up in table.hours for more in range(24)]
        assert all(days.finish[input_] <= at for input_ in needed), seed
        assert at >= hour * HOUR + length * HOUR, seed
    assert max(days.finish.values()) > 3 * DAY


def test_a_replay_is_forecast_from_the_days_before() -> None:
    world = graph(raw="{period: day, time_zone: UTC, kind: Virtual}", sums="{period: day, depends_on: [raw]}")
    told, at = list[Timing](), 1_000_000.0
    for day, took in enumerate((60.0, 66.0, 58.0, 62.0, 600.0), 1):
        slice_ = Slice("sums", f"2024-06-0{day}")
        told += [
            Timing(slice_, "launched", RunState.LAUNCHED, at, 1),
            Timing(slice_, "started", RunState.RUNNING, at + 1.0, 1),
            Timing(slice_, "completed", RunState.COMPLETED, at + 1.0 + took, 1),
        ]
        at += 1_000.0
    figure = measure_replay(world, told)
    assert (figure["replay_days"], figure["replay_slices"], figure["replay_with_history"]) == (5, 5, 4)
    assert figure["replay_coverage_p90"] == 0.75
    assert figure["replay_by_day"]["2024-06-05"] == {"coverage_p90": 0.0, "predicted_s": 61.0, "real_s": 600.0}
