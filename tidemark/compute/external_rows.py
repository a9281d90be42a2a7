"""The rows of external slices at the place of their probe: a view of exactly the data that the probe saw.

A Delta table is read at the version that the probe saw, a topic between the offsets, files by the columns that the
probe's rules see, and a database table by the probe's conditions with bound values. Data that a probe only counts or
gets reported has no rows here.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyspark.sql import functions as F

from tidemark.compute.business_time import slice_values
from tidemark.compute.errors import ExternalRowsError
from tidemark.compute.outside_frames import frame_of, of_arrow
from tidemark.crawl.database_rows import columns_of_table, table_of_rows
from tidemark.crawl.errors import ProbeError
from tidemark.crawl.folders import Folder
from tidemark.crawl.outside_rows import OutsideRows
from tidemark.crawl.probed_slice import ProbedSlice
from tidemark.crawl.probes.files import slice_files
from tidemark.crawl.probes.hive_partitions import partition_folder
from tidemark.crawl.probes.sql_table import database_url, session, slice_rows
from tidemark.crawl.rule_query import Figure
from tidemark.crawl.topic_rows import offsets_of, topic_table
from tidemark.delta.delta_rs_table import is_readable, read_table
from tidemark.delta.partition_predicate import literal
from tidemark.dependency_model.time.zone import zone_info
from tidemark.quoting.spark import quote
from tidemark.system.table_location import table_location

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from pyarrow.fs import FileInfo
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructField

    from tidemark.crawl.connection_secrets import ConnectionSecrets
    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.entity.probe import (
        DeltaProbe,
        FilesProbe,
        KafkaProbe,
        PartitionsProbe,
        Probe,
        SqlProbe,
    )
    from tidemark.dependency_model.readiness.slice_manifest import UsedSlice
    from tidemark.system.table_location import TableLocation
    from tidemark.warehouse.warehouse import Warehouse

READ: Final = frozenset({"delta", "files", "partitions", "sql", "kafka"})
"""The kinds of probes that look at rows."""
_SECONDS: Final = 600
_MOST_ROWS: Final = 5_000_000


class ExternalRows:
    """Reads slices of one warehouse's external entities with one session."""

    def __init__(self, session_: SparkSession, warehouse: Warehouse, secrets: ConnectionSecrets) -> None:
        self._session, self._warehouse, self._secrets = session_, warehouse, secrets

    def rows(self, name: str, used: Sequence[UsedSlice]) -> DataFrame:
        """The rows of existing slices, with the columns of their business time. Raises ExternalRowsError."""
        probe = self._warehouse.entities[name].probe
        if probe is None or probe.kind not in READ:
            raise ExternalRowsError.nowhere(name, probe.kind if probe else "")
        return functools.reduce(_union, [self._slice(probe, input_) for input_ in used])

    def is_at(self, source: DeltaProbe, path: TableLocation) -> bool:
        """Whether a probe's table is the one at a location of the warehouse."""
        return self._secrets.place(source.table) == str(path)

    def _slice(self, probe: Probe, used: UsedSlice) -> DataFrame:
        probed = ProbedSlice.of(self._warehouse.graph, used.slice)
        entity = self._warehouse.entities[used.slice.entity]
        rows = _with_columns(self._readers[probe.kind](probe.source, probed, used), entity)
        own = slice_values(entity, used.slice)
        return rows.withColumns({column: literal(value) for column, value in own.items()}) if own else rows

    @property
    def _readers(self) -> Mapping[str, Callable[[Any, ProbedSlice, UsedSlice], DataFrame]]:
        return {
            "delta": self._delta,
            "files": self._files,
            "partitions": self._partitions,
            "sql": self._sql,
            "kafka": self._kafka,
        }

    def _delta(self, source: DeltaProbe, probed: ProbedSlice, used: UsedSlice) -> DataFrame:
        """The rows at the version that the probe saw;

        at the newest one if that is not in the log any more, or not known.
        """
        place = table_location(self._secrets.place(probed.text(source.table)))
        seen = int(used.version) if used.version.isdecimal() else None
        version = seen if seen is not None and is_readable(place, seen) else None
        table = read_table(self._session, place, version)
        for column, text in probed.texts(source.partition).items():
            table = table.where(_is_text(table, column, text))
        if source.time_column is not None and probed.window is not None:
            at = F.col(quote(source.time_column))
            timed, window = table.schema[source.time_column], probed.window
            start, end = _bound(timed, window.start, probed), _bound(timed, window.end, probed)
            table = table.where((at >= start) & (at < end))
        return table

    def _files(self, source: FilesProbe, probed: ProbedSlice, used: UsedSlice) -> DataFrame:
        folder, files = slice_files(source, probed, self._secrets)
        return self._read(files, folder, used)

    def _partitions(self, source: PartitionsProbe, probed: ProbedSlice, used: UsedSlice) -> DataFrame:
        folder = partition_folder(Folder.at(self._secrets.place(source.path)), probed.texts(source.partition))
        if folder is None:
            raise ExternalRowsError.gone(used.slice, "the partition has no folder")
        return self._read(folder.data(folder.files()), folder, used)

    def _read(self, files: Sequence[FileInfo], folder: Folder, used: UsedSlice) -> DataFrame:
        """The rows of files of one format."""
        if not files:
            raise ExternalRowsError.gone(used.slice, "it has no files")
        try:
            rows = OutsideRows(folder, sorted(files, key=lambda info: str(info.path)))
            return frame_of(self._session, rows, folder)
        except ProbeError as error:
            raise ExternalRowsError.unreadable(used.slice, error) from error

    def _sql(self, source: SqlProbe, probed: ProbedSlice, used: UsedSlice) -> DataFrame:
        """The rows that the probe counted. Values are bound, and the session is read-only."""
        url = database_url(self._secrets.fill(source.url))
        query, values = slice_rows(source, probed, url.get_backend_name()).query([Figure("*")])
        try:
            with session(url, _SECONDS) as connection:
                types = columns_of_table(connection, source.table)
                table = table_of_rows(connection.exec_driver_sql(query, values), types, _MOST_ROWS)
        except ProbeError as error:
            raise ExternalRowsError.unreadable(used.slice, error) from error
        if table is None:
            raise ExternalRowsError.too_many(used.slice, _MOST_ROWS)
        if table.num_rows < source.at_least:
            raise ExternalRowsError.gone(used.slice, f"{table.num_rows} rows of {source.table}")
        return of_arrow(self._session, table)

    def _kafka(self, source: KafkaProbe, _: ProbedSlice, used: UsedSlice) -> DataFrame:
        """The records between the offsets that the probe saw."""
        offsets = offsets_of(used.version)
        if not offsets:
            raise ExternalRowsError.gone(used.slice, "its offsets were not recorded")
        if sum(end - first for first, end in offsets.values()) > _MOST_ROWS:
            raise ExternalRowsError.too_many(used.slice, _MOST_ROWS)
        try:
            table = topic_table(self._secrets.fill(source.servers), source.topic, offsets)
        except ProbeError as error:
            raise ExternalRowsError.unreadable(used.slice, error) from error
        return of_arrow(self._session, pa.table({}) if table is None else table)


def _is_text(table: DataFrame, column: str, text: str) -> Any:
    """Compares a column with a text. Leading zeros of whole numbers are ignored, as in the probe."""
    type_ = table.schema[column].dataType.typeName()
    if type_ in ("byte", "short", "integer", "long"):
        return F.col(column) == F.lit(int(text))
    return F.col(column) == F.lit(text).cast(type_)


def _bound(column: StructField, instant: datetime, probed: ProbedSlice) -> Column:
    """An instant in the type of a column. A time without a zone is on the slice's clock."""
    kind = column.dataType.typeName()
    local = instant.astimezone(zone_info(probed.time_zone)).replace(tzinfo=None)
    return F.lit(instant) if kind == "timestamp" else F.lit(local.isoformat(" ")).cast(kind)


def _with_columns(rows: DataFrame, entity: Entity) -> DataFrame:
    """Adds declared columns that documents lack, or that an empty result lacks."""
    probe = entity.probe
    if not entity.columns or probe is None or (rows.columns and probe.kind != "kafka"):
        return rows
    there = {name.lower() for name in rows.columns}
    missing = [name for name in entity.columns if name.lower() not in there]
    return rows.withColumns({name: F.lit(None).cast("string") for name in missing}) if missing else rows


def _union(left: DataFrame, right: DataFrame) -> DataFrame:
    return left.unionByName(right, allowMissingColumns=True)
