"""`tidemark baseline`: the forecast of promised slices, their key paths, and the duration of a repair."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Final

import click

from tidemark.console.entity_argument import entity_argument
from tidemark.console.exit_codes import ExitCode
from tidemark.console.gantt import print_gantt
from tidemark.console.output import json_option, print_json, print_line, print_table
from tidemark.dependency_model.baseline.promise import PromiseState
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.time.zone import zone_info

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.center.baseline import Baseline
    from tidemark.dependency_model.baseline.repair_time import RepairTime

_HEADINGS: Final = ("slice", "owner", "priority", "ready by", "predicted", "90 %", "margin", "state")
_STYLES: Final = {PromiseState.SAFE: "green", PromiseState.AT_RISK: "yellow", PromiseState.OVER: "bold red"}


@click.command()
@entity_argument(required=False)
@click.option("--repair", metavar="SLICE", help="Also estimate the time to compute this slice again.")
@json_option
def baseline(entity: str | None, *, repair: str | None, as_json: bool) -> None:
    """Forecast when each promised slice that is open or due today will be ready.

    `ready_by` of an entity promises its slices. The duration of slices, and the arrival of captured and external ones,
    is learned from the last ninety days, by entity, weekday and hour. `none`, `short` and `changed` mark entities with
    little history. The forecast follows the graph, the limits of the pools and retries. `predicted` is the median, in
    the project's time zone; the column `90 %` is the time by which the slice is ready on 90 % of days. A promise is
    over if at least 75 % of the predicted days are late, at risk if 75 % come within its `alert_margin`, and otherwise
    safe.

    With ENTITY, only its promises are shown, each with its key path: the chain that decides, drawn as a gantt chart,
    with the time until which a failure can be repaired, and the causes of delays.

    GET /v1/baseline and GET /v1/baseline/ENTITY of `tidemark center` give the same answer.

    \b
    Exit codes: 0 every promise is safe; 1 one is at risk or over; 2 wrong usage;
                75 the state store does not answer.
    With --json: {"now", "kept", "baselines": [{"slice", "owner", "priority",
                  "ready_by", "state", "p50", "p90", "p99", "margin_seconds", "late", "why_late": [...],
                  "key_path": [{"slice", "start", "finish", "history", "room_seconds", "repair_by"}]}]}; with --repair
                  also "repair": {"slices", "p50_seconds", "p90_seconds", "p99_seconds", "work_seconds"}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.api.baseline_models import baselines_model, repair_model  # noqa: PLC0415 - keeps --help fast
    from tidemark.console.project_baselines import project_baselines  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415

    if repair and entity is None:
        raise click.UsageError("--repair needs the slice's entity: tidemark baseline ENTITY --repair SLICE")
    now, settings = datetime.now(UTC), Settings.load()
    promises = project_baselines(settings, now, entity)
    told = promises.all()
    estimate = promises.repair([Slice(entity, repair)]) if repair and entity else None
    if as_json:
        model = baselines_model(now, len(promises.promised), told).model_dump(mode="json")
        print_json({**model, **({"repair": repair_model(estimate).model_dump()} if estimate else {})})
    else:
        _print(told, len(promises.promised), zone_info(settings.time_zone), in_detail=entity is not None)
        if estimate:
            _print_repair(estimate)
    is_trouble = any(promise.state is not PromiseState.SAFE for promise in told)
    raise SystemExit(ExitCode.FAILED if is_trouble else ExitCode.OK)


def _print(told: Sequence[Baseline], promised: int, zone: tzinfo, *, in_detail: bool) -> None:
    print_table(_HEADINGS, [_row(promise, zone) for promise in told], [_STYLES[promise.state] for promise in told])
    for promise in told:
        if in_detail or promise.state is not PromiseState.SAFE:
            for sentence in promise.causes:
                print_line(f"{promise.slice}: {sentence}", "yellow")
        if in_detail and promise.path:
            print_line()
            print_gantt(promise, zone)
    print_line(f"{promised} promised, {promised - len(told)} ready, {len(told)} open")


def _row(promise: Baseline, zone: tzinfo) -> list[str]:
    return [
        str(promise.slice),
        promise.owner,
        str(promise.priority),
        _time(promise.ready_by, zone),
        _clock(promise.p50, promise.ready_by, zone),
        _clock(promise.p90, promise.ready_by, zone),
        _length(promise.margin),
        promise.state.value,
    ]


def _print_repair(estimate: RepairTime) -> None:
    p50, p90, work = (_length(timedelta(seconds=value)) for value in (estimate.p50, estimate.p90, estimate.work))
    print_line(f"computing {estimate.slices} slices again takes {p50}, 90 %: at most {p90}: {work} of work")


def _time(instant: datetime | None, zone: tzinfo) -> str:
    return f"{instant.astimezone(zone):%Y-%m-%d %H:%M}" if instant else ""


def _clock(instant: datetime | None, beside: datetime, zone: tzinfo) -> str:
    """The time, with the date only if it differs from the other date."""
    is_same_day = instant is not None and instant.astimezone(zone).date() == beside.astimezone(zone).date()
    return f"{instant.astimezone(zone):%H:%M}" if instant and is_same_day else _time(instant, zone)


def _length(length: timedelta | None) -> str:
    """Hours, minutes and seconds: `-1:05:00`."""
    if length is None:
        return ""
    seconds = round(abs(length.total_seconds()))
    sign = "-" if length < timedelta(0) else ""
    return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
