"""Margins, latest starts, key paths with their causes, and repairs, in small worlds."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from tidemark.dependency_model.baseline.forecast import Durations, Forecast
from tidemark.dependency_model.baseline.key_path import Cause, Troubled, deviations, key_path
from tidemark.dependency_model.baseline.learned_times import LEVELS, given
from tidemark.dependency_model.baseline.promise import PromiseState, latest_starts, margin_of
from tidemark.dependency_model.baseline.repair_time import repair_time
from tidemark.dependency_model.baseline.slice_network import SliceNetwork

_CHAIN = (np.array([0, 1, 3]), np.array([1, 2, 2]))
"""An arrival 0, then 1, then 2; 3 beside it, for 2 as well."""


def _chain(
    *, now: float = 0.0, capacity: int = 5, running: float = np.nan, seconds: tuple[float, ...] = (100, 200, 300, 50)
) -> Forecast:
    network = SliceNetwork.of(np.zeros(4), np.array([-1, 0, 0, 0]), _CHAIN)
    tables = np.array([value * (0.8 + 0.4 * LEVELS) for value in seconds], np.float32)
    begun = np.full(4, np.nan)
    begun[3] = running
    return Forecast.of(network, Durations(tables, network.order, begun[network.order], np.zeros(4)), [capacity], now)


@pytest.mark.parametrize(
    ("ready_by", "alert_margin", "state"),
    [
        (900, 0, PromiseState.SAFE),
        (900, 360, PromiseState.AT_RISK),
        (605, 0, PromiseState.SAFE),
        (605, 60, PromiseState.AT_RISK),
        (500, 0, PromiseState.OVER),
    ],
)
def test_a_promise_is_judged_before_its_time(ready_by: float, alert_margin: float, state: PromiseState) -> None:
    forecast = _chain()
    margin = margin_of(forecast, int(forecast.network.numbers()[2]), ready_by, alert_margin)
    assert margin.state is state
    assert margin.seconds == pytest.approx(ready_by - 600, abs=25)
    assert margin.p50 < margin.p90 < margin.p99 < 720


@pytest.mark.parametrize(
    ("minutes", "late_of_100", "state"),
    [
        (49, 49, PromiseState.SAFE),
        (49, 74, PromiseState.AT_RISK),
        (49, 75, PromiseState.OVER),
        (51, 75, PromiseState.AT_RISK),
        (51, 97, PromiseState.AT_RISK),
        (51, 98, PromiseState.OVER),
        (600, 98, PromiseState.OVER),
    ],
)
def test_early_alerts_need_certainty_and_near_ones_probability(
    minutes: int, late_of_100: int, state: PromiseState
) -> None:
    ready_by = 60.0 * minutes
    finish = np.array([[ready_by + 1] * late_of_100 + [ready_by] * (100 - late_of_100)])
    margin = margin_of(cast("Forecast", SimpleNamespace(finish=finish)), 0, ready_by)
    assert (margin.state, margin.late) == (state, late_of_100 / 100)


def test_the_key_path_is_the_chain_that_decides() -> None:
    forecast = _chain()
    number = forecast.network.numbers()
    assert key_path(forecast, int(number[2])) == number[[0, 1, 2]].tolist()
    forecast = _chain(seconds=(100, 200, 300, 900))
    assert key_path(forecast, int(forecast.network.numbers()[2])) == forecast.network.numbers()[[3, 2]].tolist()


def test_a_late_input_is_a_cause() -> None:
    forecast = _chain(now=400.0)
    number = forecast.network.numbers()
    told = deviations(forecast, key_path(forecast, int(number[2])), 400.0, Troubled())
    assert [(deviation.number, deviation.cause) for deviation in told] == [(number[0], Cause.LATE_INPUT)]
    assert told[0].seconds == pytest.approx(400 - 116, abs=2)


def test_a_slow_run_and_a_full_pool_are_causes() -> None:
    slow = _chain(now=900.0, running=0.0, seconds=(0, 0, 300, 50))
    number = slow.network.numbers()
    assert deviations(slow, [int(number[3])], 900.0, Troubled())[0].cause is Cause.SLOW_RUN
    full = _chain(capacity=1, seconds=(10, 200, 300, 400))
    told = deviations(full, list(range(4)), 0.0, Troubled())
    assert [deviation.cause for deviation in told] == [Cause.WAITING_FOR_ROOM]


def test_failures_come_first() -> None:
    forecast = _chain(now=400.0)
    number = [int(value) for value in forecast.network.numbers()]
    troubled = Troubled(failed=[number[1]], for_good=[number[3]], held=[number[2]])
    told = deviations(forecast, [number[place] for place in (0, 1, 2, 3)], 400.0, troubled)
    assert {deviation.cause for deviation in told} == {
        Cause.FAILED,
        Cause.FAILED_FOR_GOOD,
        Cause.WAITING_FOR_PERSON,
        Cause.LATE_INPUT,
    }


def test_latest_starts_lead_back_from_the_promise() -> None:
    network = SliceNetwork.of(np.zeros(5), np.array([0] * 5), _CHAIN)
    number = network.numbers()
    took = np.array([100.0, 200.0, 300.0, 50.0, 7.0])[network.order]
    starts = latest_starts(network, took, {int(number[2]): 1_000.0, int(number[1]): 650.0})
    assert starts[number].tolist() == [350.0, 450.0, 700.0, 650.0, np.inf]


def test_a_repair_takes_its_chain_and_the_slots_that_live_work_leaves() -> None:
    tables = np.array([given(seconds) for seconds in (100.0, 200.0, 300.0, 50.0)], np.float32)
    network = SliceNetwork.of(np.zeros(4), np.zeros(4, np.int64), (np.array([0]), np.array([1])))
    number = network.numbers()
    durations = Durations(tables, network.order, np.full(4, np.nan), np.zeros(4))
    alone = repair_time(network, durations, [4], number[[0, 1]])
    assert (alone.slices, alone.p50, alone.p99, alone.work) == (2, 300, 300, 300)
    busy = repair_time(network, durations, [1], number[[3]])
    assert (busy.p50, busy.work) == (650, 50)
    assert repair_time(network, durations, [1], number[:0]).slices == 0
