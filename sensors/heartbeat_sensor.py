"""The heartbeat sensor: a heartbeat a minute in every source database whose address is set."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import dagster as dg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from resources.capture.heartbeat.databases import Database

NAME: Final = "heartbeat"
# The idle and broken thresholds of a table are counted in minutes.
_SECONDS: Final = 60


def heartbeat_sensor(databases: Sequence[Database]) -> dg.SensorDefinition:
    """A sensor that writes, and starts nothing; what it cannot write it says in its log and in the tick."""

    @dg.sensor(
        name=NAME,
        description="Writes the time into each source database, so that capture can tell idle from broken.",
        minimum_interval_seconds=_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
    )
    def beat(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        from resources.capture.heartbeat.writer import write_heartbeats  # noqa: PLC0415 - loads the database's client

        failed = [one for one in write_heartbeats(databases, datetime.now(UTC)) if one.problem is not None]
        for one in failed:
            context.log.error(str(one.problem))
        written = len(databases) - len(failed)
        missing = f", none on {', '.join(one.instance for one in failed)}" if failed else ""
        return dg.SkipReason(f"heartbeats written on {written} of {len(databases)} instances{missing}")

    return beat
