"""The heartbeat sensor: writes a heartbeat every minute into each source database, and reports broken instances."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import dagster as dg

from tidemark.capture.heartbeat.source_databases import databases
from tidemark.dagster.heartbeat_checks import NAME as CHECK
from tidemark.dagster.heartbeat_checks import broken_by_entity, describe_broken, heard, metadata
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tidemark.capture.heartbeat.source_databases import HeartbeatDatabase
    from tidemark.dagster.heartbeat_checks import Broken
    from tidemark.warehouse.warehouse import Warehouse

NAME: Final = "heartbeat"
# A table's idle and broken thresholds are in minutes.
_SECONDS: Final = 60

_Reported = dict[str, list[str]]
"""The sensor's cursor: by entity, the broken instances in the last report of its check."""


def heartbeat_sensors(warehouse: Warehouse) -> list[dg.SensorDefinition]:
    """The sensor if addresses of source databases are set; else none."""
    sources = databases(warehouse.settings.databases.get_secret_value())
    return [heartbeat_sensor(sources, warehouse)] if sources else []


def heartbeat_sensor(sources: Sequence[HeartbeatDatabase], warehouse: Warehouse) -> dg.SensorDefinition:
    """A sensor that writes heartbeats and starts nothing. It reports failed writes in its log and in the tick.

    The check `heartbeat` of each captured entity is reported only when heartbeats stop or return.
    """

    @dg.sensor(
        name=NAME,
        description="Writes the time into each source database, and reports instances whose heartbeats do not arrive.",
        minimum_interval_seconds=_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
    )
    def beat(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        now = datetime.now(UTC)
        summary = _write(context, sources, now)
        broken_now = broken_by_entity(warehouse, heard(warehouse), now)
        reported: _Reported = json.loads(context.cursor or "{}")
        changed = {entity: broken for entity, broken in broken_now.items() if reported.get(entity) != _names(broken)}
        _alert(context, changed, reported)
        return dg.SensorResult(
            skip_reason=summary,
            asset_events=list(_evaluations(changed)),
            cursor=json_text({entity: _names(broken) for entity, broken in broken_now.items()}),
        )

    return beat


def _write(context: dg.SensorEvaluationContext, sources: Sequence[HeartbeatDatabase], now: datetime) -> str:
    from tidemark.capture.heartbeat.writer import write_heartbeats  # noqa: PLC0415 - loads the database's client

    failed = [outcome for outcome in write_heartbeats(sources, now) if outcome.problem is not None]
    for outcome in failed:
        context.log.error(str(outcome.problem))
    written = len(sources) - len(failed)
    missing = f", none on {', '.join(outcome.instance for outcome in failed)}" if failed else ""
    return f"heartbeats written on {written} of {len(sources)} instances{missing}"


def _names(broken: Broken) -> list[str]:
    return [diagnosis.instance for diagnosis in broken]


def _alert(context: dg.SensorEvaluationContext, changed: Mapping[str, Broken], reported: _Reported) -> None:
    for entity, broken in changed.items():
        if broken:
            context.log.error("%s is held back: %s", entity, describe_broken(broken))
        elif reported.get(entity):
            context.log.info("%s continues: %s is live again", entity, ", ".join(reported[entity]))


def _evaluations(changed: Mapping[str, Broken]) -> Iterator[dg.AssetCheckEvaluation]:
    for entity, broken in changed.items():
        yield dg.AssetCheckEvaluation(
            asset_key=dg.AssetKey([entity]),
            check_name=CHECK,
            passed=not broken,
            description=describe_broken(broken),
            metadata=metadata(broken),
        )
