"""The reasons why a snapshot waits: instances that are not read to its end, with their shards and heartbeats."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime, tzinfo

    from tidemark.capture.operations.table_status import StreamStatus, TableStatus


def blockers_of(status: TableStatus, end: datetime, zone: tzinfo) -> list[str]:
    """A text for each instance that a snapshot ending at `end` waits for, with times in `zone`."""
    behind = {
        name: stream
        for name, stream in status.streams.items()
        if stream.read_to is None or stream.read_to < end or stream.halted
    }
    return [" ".join(_sentences(status, name, stream, zone)) for name, stream in behind.items()]


def _sentences(status: TableStatus, name: str, stream: StreamStatus, zone: tzinfo) -> Iterator[str]:
    read_to = "nothing is read yet" if stream.read_to is None else f"read to {_shown(stream.read_to, zone)}"
    shards = [shard for shard in status.shards if shard.shard.startswith(f"{name}.")]
    newest = max(shards, key=lambda shard: shard.watermark, default=None)
    change = "" if newest is None else f", newest change {_shown(newest.watermark, zone)} on shard {newest.shard}"
    lag = f", {stream.lag} records wait in Kafka" if stream.lag else ""
    yield f"instance {name}: {read_to}{change}{lag}; {stream.diagnosis.health}: {stream.diagnosis.reason}"
    yield from (f"halted: {finding}" for finding in stream.halted)


def _shown(instant: datetime, zone: tzinfo) -> str:
    return instant.astimezone(zone).isoformat(sep=" ", timespec="seconds")
