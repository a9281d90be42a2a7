"""The state of a table's capture for Dagster's pages, as in `tidemark capture status`, with a picture."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import dagster as dg

from tidemark.capture.commits.commit_state import FIRST_LOOK, commits
from tidemark.capture.operations.collect_status import table_statuses
from tidemark.dagster.metadata.layout_and_capture_plots import capture_plot
from tidemark.errors import TidemarkError
from tidemark.warehouse.dagster_partition_keys import period_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from tidemark.capture.operations.table_status import TableStatus
    from tidemark.capture.source_table import SourceTable
    from tidemark.compute.runtime import Runtime
    from tidemark.dependency_model.slice import Slice
    from tidemark.system.table_location import TableLocation

Metadata = dict[str, dg.MetadataValue[Any]]

_SHOWN: Final = 20
"""The most physical tables, and slices with late changes, that are shown."""


class CaptureMetadata:
    """The capture of an entity and of its table at `now`; empty for a table that is not captured here."""

    def __init__(self, runtime: Runtime, entity: str, now: datetime) -> None:
        self._runtime, self._entity = runtime, entity
        name = runtime.warehouse.captured_table_of(entity).name
        tables = runtime.warehouse.source_tables()
        self._source = next((table for table in tables if table.name == name), None)
        self._status = _status(runtime, self._source, now) if self._source else None
        self._late = self._status.late.get(entity, {}) if self._status else {}

    def of_slice(self, slice_: Slice) -> Metadata:
        """The snapshot's generation, and the number of its late changes."""
        if self._source is None:
            return {}
        period = period_of(self._runtime.warehouse.graph, slice_.entity)
        tagged = self._runtime.registry.get(slice_.entity, period, slice_.key)
        return {
            "generation": dg.IntMetadataValue(tagged.generation if tagged else 1),
            "late_changes": dg.IntMetadataValue(self._late.get(slice_.key, 0)),
        }

    def of_table(self) -> Metadata:
        """The state of the table's capture, the same for all slices of a run."""
        source, status = self._source, self._status
        if source is None or status is None:
            return {}
        metadata: Metadata = {
            "changes_per_second": dg.FloatMetadataValue(round(sum((shard.rate for shard in status.shards), 0.0), 3)),
            "instances": dg.MarkdownMetadataValue(_instances(status)),
            "physical_tables": dg.MarkdownMetadataValue(_shards(status)),
            **_places(status),
        }
        if self._late:
            rows = [(key, str(count)) for key, count in list(self._late.items())[-_SHOWN:]]
            metadata["late_changes_by_slice"] = dg.MarkdownMetadataValue(_table(("slice", "late changes"), rows))
        return metadata | self._drawn(source)

    def _drawn(self, source: SourceTable) -> Metadata:
        """The picture. It is left out for recordings, and for hourly snapshots, which would store it every hour."""
        warehouse = self._runtime.warehouse
        if not warehouse.settings.kafka or self._entity != source.name:
            return {}
        picture = _picture(source, warehouse.table_path(source.name))
        return {"capture": dg.MarkdownMetadataValue(picture)} if picture else {}


def _status(runtime: Runtime, source: SourceTable, now: datetime) -> TableStatus:
    """The status. If the broker is away, the lag is left out, because the snapshot must not be lost."""
    warehouse, database = runtime.warehouse, runtime.database
    try:
        (status,) = table_statuses([source], warehouse.settings, database, now)
    except TidemarkError:
        (status,) = table_statuses([source], warehouse.settings.model_copy(update={"kafka": ""}), database, now)
    return status


def _places(status: TableStatus) -> Metadata:
    metadata: Metadata = {}
    if status.watermark:
        metadata["watermark"] = dg.TimestampMetadataValue(status.watermark.timestamp())
    if status.last_snapshot:
        metadata["last_snapshot"] = dg.TextMetadataValue(status.last_snapshot)
    lags = [stream.lag for stream in status.streams.values() if stream.lag is not None]
    if lags:
        metadata["lag"] = dg.IntMetadataValue(max(lags))
    return metadata


def _instances(status: TableStatus) -> str:
    rows = [
        (
            name,
            str(stream.offset),
            "?" if stream.lag is None else str(stream.lag),
            f"{stream.diagnosis.health}: {stream.diagnosis.reason}",
            "; ".join(map(str, stream.halted)),
        )
        for name, stream in status.streams.items()
    ]
    return _table(("instance", "next offset", "lag", "heartbeat", "halted"), rows)


def _shards(status: TableStatus) -> str:
    rows = [(shard.shard, f"{shard.watermark:%Y-%m-%d %H:%M:%S}", f"{shard.rate:.2f}") for shard in status.shards]
    text = _table(("physical table", "newest change (UTC)", "changes/s"), rows[:_SHOWN])
    return text if len(rows) <= _SHOWN else f"{text}\n\nand {len(rows) - _SHOWN} more"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def _picture(source: SourceTable, path: TableLocation) -> str:
    """The picture of the last commits; empty until the table is complete up to some time."""
    last = list(islice(commits(path), FIRST_LOOK))[::-1]
    shown = [
        (commit, complete) for commit in last if (complete := _complete_ms(source, commit.state.watermarks)) is not None
    ]
    if not shown:
        return ""
    changes = {
        instance: [
            sum(count for shard, count in commit.state.counts.items() if shard.startswith(f"{instance}."))
            for commit, _ in shown
        ]
        for instance in source.instances
    }
    behind = [max(0.0, commit.at.timestamp() - complete / 1000) for commit, complete in shown]
    return capture_plot(
        f"the last {len(shown)} commits of {source.name}", [commit.at for commit, _ in shown], changes, behind
    )


def _complete_ms(source: SourceTable, watermarks: Mapping[str, int]) -> int | None:
    """The event time (epoch ms) up to which every instance was read; None if one was not read yet."""
    times = [watermarks.get(instance) for instance in source.instances]
    known = [ms for ms in times if ms is not None]
    return min(known) if known and len(known) == len(times) else None
