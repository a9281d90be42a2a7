"""`tidemark capture status`: lag, watermark, heartbeat, last snapshot and rate, per table."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from console.output import json_option, print_json, print_line, print_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from resources.capture.source import SourceTable
    from resources.capture.status import TableStatus
    from resources.settings import Settings

_HEADINGS = ["table", "instance", "read to", "lag", "heartbeat", "last snapshot", "changes/s"]


@click.command()
@json_option
def status(*, as_json: bool) -> None:
    """Show how far each captured table is, what waits for it in Kafka, and whether its databases are alive.

    Read from the tables' own logs; the lag needs TIDEMARK_KAFKA.

    \b
    Exit codes: 0 shown, 1 a declaration cannot be read, 75 Kafka does not answer.
    With --json: {"tables": [{"table", "watermark", "last_snapshot", "shards": [{"shard", "watermark", "rate"}],
    "streams": {instance: {"offset", "lag", "diagnosis": {...}, "held": [...]}}}], "dead_letters"}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from resources.capture.dead_letters import DeadLetters  # noqa: PLC0415 - keeps --help fast
    from resources.settings import Settings  # noqa: PLC0415
    from warehouse_assets.warehouse import load_warehouse  # noqa: PLC0415

    settings = Settings.load()
    found = _status(load_warehouse(settings).source_tables(), settings)
    letters = len(DeadLetters(settings.warehouse).waiting())
    if as_json:
        print_json({"tables": [asdict(one) for one in found], "dead_letters": letters})
        return
    print_table(_HEADINGS, [row for one in found for row in _rows(one)])
    for finding in dict.fromkeys(one for table in found for stream in table.streams.values() for one in stream.held):
        print_line(f"held: {finding}; tidemark capture accept {finding.instance} {finding.offset} goes on")
    if letters:
        print_line(f"dead letters: {letters}; tidemark dlq list shows them")


def _status(sources: Sequence[SourceTable], settings: Settings) -> list[TableStatus]:
    from resources.capture.commit import commits  # noqa: PLC0415
    from resources.capture.order.held import Held  # noqa: PLC0415
    from resources.capture.status import Around, table_status  # noqa: PLC0415

    around = Around(_ends(sources, settings), Held.of(settings).read(), datetime.now(UTC))
    return [table_status(one, commits(settings.warehouse / one.name), around) for one in sources]


def _ends(sources: Sequence[SourceTable], settings: Settings) -> Mapping[str, int]:
    """Per instance the end of its topic. Raises BrokerDownError, TopicMissingError."""
    if not settings.kafka:
        return {}
    from resources.capture.kafka.bounds import Broker  # noqa: PLC0415
    from resources.capture.source import instances_of, topic_of  # noqa: PLC0415

    instances = instances_of(sources)
    bounds = Broker(settings.kafka).bounds([topic_of(name) for name in instances])
    return {name: bounds[topic_of(name)].high for name in instances}


def _rows(table: TableStatus) -> list[list[str]]:
    rates: dict[str, float] = {}
    for shard in table.shards:
        instance = shard.shard.partition(".")[0]
        rates[instance] = rates.get(instance, 0.0) + shard.rate
    return [
        [
            table.table,
            instance,
            f"{table.watermark:%Y-%m-%d %H:%M:%S}" if table.watermark else "nothing yet",
            "?" if stream.lag is None else str(stream.lag),
            f"{stream.diagnosis.health}: {stream.diagnosis.reason}",
            table.last_snapshot or "none",
            f"{rates.get(instance, 0.0):.1f}",
        ]
        for instance, stream in table.streams.items()
    ]
