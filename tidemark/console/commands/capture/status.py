"""`tidemark capture status`: lag, watermark, heartbeat, last snapshot and rate of each table."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from tidemark.console.output import json_option, print_json, print_line, print_table
from tidemark.dependency_model.time.zone import zone_info

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import tzinfo

    from tidemark.capture.binlog.finding import BinlogFinding
    from tidemark.capture.operations.table_status import TableStatus

_HEADINGS = ["table", "instance", "read to", "lag", "heartbeat", "last snapshot", "changes/s"]
_SHOWN = 8


@click.command()
@json_option
def status(*, as_json: bool) -> None:
    """Show the progress of each captured table, its lag in Kafka, and whether its databases are alive.

    The figures come from the logs of the tables. The lag needs TIDEMARK_KAFKA, and the state of the connectors needs
    TIDEMARK_CONNECT. Times are in the project's time zone; with --json they are in UTC.

    \b
    Exit codes: 0 shown, 1 a declaration cannot be read, 75 Kafka does not answer.
    With --json: {"tables": [{"table", "watermark", "last_snapshot", "shards": [{"shard", "watermark", "rate"}],
    "streams": {instance: {"offset", "lag", "diagnosis": {...}, "halted": [...]}},
    "late": {entity: {slice: changes}}, "initial_load_pending": [shard, ...],
    "quarantined_columns": [...]}], "connectors": [{"subject", "verdict", "found", "to_do"}], "dead_letters"}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.capture.operations.collect_status import table_statuses  # noqa: PLC0415
    from tidemark.capture.operations.preflight.all_checks import connector_findings  # noqa: PLC0415
    from tidemark.capture.source.dead_letters import DeadLetters  # noqa: PLC0415 - keeps --help fast
    from tidemark.state_store.database import Database  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    settings = Settings.load()
    sources = load_warehouse(settings).source_tables()
    tables = table_statuses(sources, settings, Database.of(settings), datetime.now(UTC))
    connectors = [finding for finding in connector_findings(settings, sources) if finding.verdict != "ok"]
    letters = len(DeadLetters(settings.warehouse).waiting())
    if as_json:
        print_json(
            {
                "tables": [asdict(table) for table in tables],
                "connectors": [finding.as_dict() for finding in connectors],
                "dead_letters": letters,
            }
        )
        return
    zone = zone_info(settings.time_zone)
    print_table(_HEADINGS, [row for table in tables for row in _rows(table, zone)])
    for stopped in connectors:
        print_line(f"{stopped.subject}: {stopped.found}; {stopped.to_do}")
    for finding in dict.fromkeys(
        halt for table in tables for stream in table.streams.values() for halt in stream.halted
    ):
        print_line(_told(finding))
    for line in _late(tables):
        print_line(line)
    for table in tables:
        if table.initial_load_pending:
            missing = f"the initial load is not complete for {', '.join(table.initial_load_pending)}"
            print_line(f"not complete: {table.table}: {missing}; tidemark capture load {table.table} loads them")
        if table.quarantined_columns:
            print_line(
                f"quarantined: {table.table}: columns that are not in the lake: {', '.join(table.quarantined_columns)}"
            )
    if letters:
        print_line(f"dead-letter queue: {letters}; tidemark dlq list shows the records")


def _told(finding: BinlogFinding) -> str:
    accept = f"tidemark capture accept {finding.instance} {finding.offset}"
    if not finding.kind.holds_tags:
        return f"halted: {finding}; {accept} continues{_behind_a_gap(finding)}"
    ways_out = f"tidemark capture load or reload reads the table again, {accept} accepts its rows"
    return f"held, no slice is tagged: {finding}; {ways_out}"


def _behind_a_gap(finding: BinlogFinding) -> str:
    """A vanished shard needs another hint."""
    if finding.shard is not None:
        return ""
    return ", and holds its tables: tidemark capture reload TABLE then reads the missing rows"


def _late(tables: Sequence[TableStatus]) -> Iterator[str]:
    for table in tables:
        for entity, slices in table.late.items():
            told = ", ".join(f"{slice_} {count}" for slice_, count in list(slices.items())[-_SHOWN:])
            yield f"late: {entity}, changes that came after the snapshot of their time was tagged: {told}"


def _rows(table: TableStatus, zone: tzinfo) -> list[list[str]]:
    rates: dict[str, float] = {}
    for shard in table.shards:
        instance = shard.shard.partition(".")[0]
        rates[instance] = rates.get(instance, 0.0) + shard.rate
    return [
        [
            table.table,
            instance,
            table.watermark.astimezone(zone).isoformat(sep=" ", timespec="seconds")
            if table.watermark
            else "nothing yet",
            "?" if stream.lag is None else str(stream.lag),
            f"{stream.diagnosis.health}: {stream.diagnosis.reason}",
            table.last_snapshot or "none",
            f"{rates.get(instance, 0.0):.1f}",
        ]
        for instance, stream in table.streams.items()
    ]
