"""Distinguishes idle from broken: nothing changed, or nothing arrives."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class Health(StrEnum):
    """The health of one table on one instance.

    Snapshots are tagged on time while LIVE or IDLE, and wait while BROKEN.
    """

    LIVE = "live"
    IDLE = "idle"
    BROKEN = "broken"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Threshold:
    """A table without a change for `idle` is idle; an instance without a heartbeat for `broken` is broken."""

    idle: timedelta = timedelta(minutes=10)
    broken: timedelta = timedelta(minutes=5)


USUAL = Threshold()


@dataclass(frozen=True)
class Diagnosis:
    """`since` is the time of the last sign of life, None for UNKNOWN; `reason` explains the health."""

    instance: str
    health: Health
    since: datetime | None
    reason: str


def diagnose(
    instance: str, beat: datetime | None, change: datetime | None, now: datetime, threshold: Threshold
) -> Diagnosis:
    """The health by the newest heartbeat that arrived and the newest change of the table.

    `beat` is the writer's time, on the same clock as `now`. The server's clock may be wrong by an hour and is not used.
    `change` is on the server's clock.
    """
    if beat is None:
        return Diagnosis(instance, Health.UNKNOWN, None, f"no heartbeat has arrived from {instance} yet")
    if now - beat > threshold.broken:
        reason = f"the last heartbeat of {instance} is {_ago(now - beat)} old ({_at(beat)}): nothing arrives now"
        return Diagnosis(instance, Health.BROKEN, beat, reason)
    fresh = f"its heartbeat is {_ago(now - beat)} old"
    if change is None:
        return Diagnosis(instance, Health.IDLE, None, f"no change has arrived from {instance} yet, {fresh}")
    if now - change > threshold.idle:
        reason = f"nothing has changed on {instance} for {_ago(now - change)}, {fresh}"
        return Diagnosis(instance, Health.IDLE, change, reason)
    return Diagnosis(instance, Health.LIVE, change, f"the last change of {instance} was at {_at(change)}, {fresh}")


def _at(moment: datetime) -> str:
    return moment.isoformat(sep=" ", timespec="seconds")


def _ago(duration: timedelta) -> str:
    """A duration as `4 s`, `12 min` or `3 h 5 min`."""
    seconds = max(0, int(duration.total_seconds()))
    if seconds < 120:
        return f"{seconds} s"
    minutes = seconds // 60
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"
