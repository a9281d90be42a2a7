"""Baselines: how fast promises are forecast, how often the forecast is right, and what order keeps most of them.

Three parts. A company of 80,000 entities (times `--scale`) is forecast as a whole, and after single events. A company
drawn by chance is simulated event by event for four months - weekly rhythm, growth, noise, failures, slow inputs - by a
simulation of its own; its last `--days` days are forecast every twenty minutes with what was known by then, and judged
by what happened. Beside it, on the same days, stands a forecast by the average of the last ten run times (Airflow's
DeadlineAlert AVERAGE_RUNTIME). Days of overload go through the real center, with each of three orders of launches.

    entities, slices             the size of the large company, and of its day
    forecast_s, forecast_cpu_s   all slices of a day from their network; cpu: without waiting for the processor
    network_s, network_cpu_s     from graph, statuses and history to that network, when the center has just started
    network_again_s, ..cpu..     the same for every later forecast: declarations and what was learned are kept
    update_ms_p99, ..cpu..       after one event of a slice drawn by chance, an hour late
    large_update_ms_p99, ..cpu.. the same of the hundred slices with most below them; large_update_slices: most moved
    seed                         of the simulated days and the overload; `--seed` replays it
    coverage_p90                 how many intervals of 90 % held what happened, of all open slices at each full hour
    coverage_p90_by_hour         the same by the hour of the day at which the forecast was made
    promises, late               judged, and of them those that were late
    late_announced               share of late promises announced 30 minutes before their time or earlier
    late_found_before_min_p50    how many minutes before, median over all late promises
    false_alarms                 share of the kept promises that were announced late or at risk
    announced_in_vain            share of the announcements that were of kept promises
    by_threshold                 late_announced and announced_in_vain, were promises told of from one probability on
    error_min_p50                forecasts of promised slices, every hour: minutes beside what happened, median
    average_*                    the same of a forecast by average run time
    promises_kept_ratio          in overload, by margin
    kept_by_chain_ratio          by the longest chain
    kept_by_first_come_ratio     first come, first served
    replay_*                     with `--replay FILE`: the slices that a replay of this project computed, as its state
                                 store tells, each day forecast from the days before: coverage, seconds off (median)
"""

from __future__ import annotations

import random
import statistics
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.baseline.back_test import BEFORE, BackTest
from benchmarks.baseline.overload import measure_overload
from benchmarks.baseline.replay import measure_replay
from benchmarks.baseline.speed import measure_speed
from tidemark.state_store.database import Database
from tidemark.state_store.timings import timings
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from benchmarks.baseline.back_test import Judged, Promised


_THRESHOLDS: Final = (0.5, 0.75, 0.9, 0.95, 0.98)


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scale", type=float, default=1.0, help="1 is 80,000 entities; 0 leaves the large company out")
    parser.add_argument("--events", type=int, default=2_000, help="so many events of it")
    parser.add_argument("--days", type=int, default=90, help="simulated days that are judged; 0 leaves them out")
    parser.add_argument("--overloads", type=int, default=5, help="so many days of overload; 0 leaves them out")
    parser.add_argument("--companies", type=int, default=1, help="so many are simulated, of seeds one after another")
    parser.add_argument("--replay", type=Path, help="the state store of a replay of this project: data/state.db")
    parser.add_argument("--seed", type=int, help="of an earlier run, to replay it; drawn where it is not given")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    seed = random.SystemRandom().randrange(2**32) if arguments.seed is None else arguments.seed
    speed = measure_speed(arguments.scale, arguments.events) if arguments.scale else {}
    companies = range(arguments.companies if arguments.days else 0)
    tests = [BackTest(seed + number, arguments.days).run() for number in companies]
    judged = judged_figures(tests) if tests else {}
    overload = _overload(seed, arguments.overloads) if arguments.overloads else {}
    replay = _replay(arguments.replay) if arguments.replay else {}
    return {**speed, "seed": seed, **judged, **overload, **replay}


def _replay(file: Path) -> dict[str, Any]:
    database = Database.at(file)
    told = timings(database, datetime.fromtimestamp(0, UTC))
    return measure_replay(load_warehouse(Settings.load()).graph, told)


def judged_figures(tests: Sequence[Judged]) -> dict[str, Any]:
    """What back-tests say together, by name."""
    inside = {
        hour: [sum(column) for column in zip(*(judged.inside[hour] for judged in tests), strict=True)]
        for hour in range(24)
    }
    hours = {hour: held / asked for hour, (held, asked) in inside.items() if asked}
    held, asked = (sum(column) for column in zip(*inside.values(), strict=True))
    promised = [promise for judged in tests for promise in judged.promised.values()]
    errors = [error for judged in tests for error in judged.errors]
    errors_average = [error for judged in tests for error in judged.errors_average]
    return {
        "coverage_p90": round(held / asked, 3),
        "coverage_p90_by_hour": {hour: round(share, 3) for hour, share in hours.items()},
        "coverage_p90_least": round(min(hours.values()), 3),
        "coverage_p90_most": round(max(hours.values()), 3),
        "promises": len(promised),
        "late": sum(promise.is_late for promise in promised),
        **_told([(promise, promise.announced) for promise in promised], ""),
        "by_threshold": {threshold: _of_threshold(promised, threshold) for threshold in _THRESHOLDS},
        "error_min_p50": round(statistics.median(errors) / 60, 1),
        **_told([(promise, promise.airflow) for promise in promised], "average_"),
        "average_error_min_p50": round(statistics.median(errors_average) / 60, 1),
    }


def _of_threshold(promised: Sequence[Promised], threshold: float) -> list[float]:
    told = _told([(promise, promise.announced_from(threshold)) for promise in promised], "")
    return [told["late_announced"], told["announced_in_vain"]]


def _told(promised: Sequence[tuple[Promised, float]], name: str) -> dict[str, float]:
    """Of each promise when it was announced; an announcement after it was kept is none."""
    before = [max(promise.ready_by - at, 0.0) for promise, at in promised if promise.is_late]
    kept = [at < promise.finish for promise, at in promised if not promise.is_late]
    told = sum(at < promise.finish for promise, at in promised)
    return {
        f"{name}late_announced": round(sum(lead >= BEFORE for lead in before) / max(1, len(before)), 3),
        f"{name}late_found_before_min_p50": round(statistics.median(before) / 60, 1) if before else 0.0,
        f"{name}false_alarms": round(sum(kept) / max(1, len(kept)), 4),
        f"{name}announced_in_vain": round(sum(kept) / max(1, told), 3),
    }


def _overload(seed: int, companies: int) -> dict[str, float]:
    kept = measure_overload(seed, companies)
    return {
        "overload_promises": kept.promised,
        "promises_kept_ratio": round(kept.margin / kept.promised, 3),
        "kept_by_chain_ratio": round(kept.chain / kept.promised, 3),
        "kept_by_first_come_ratio": round(kept.first_come / kept.promised, 3),
    }
