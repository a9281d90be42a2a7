"""The code by which readers of Iceberg's metadata read a slice or tag."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from tidemark.catalog.notes import iceberg_troubles
from tidemark.delta.iceberg_metadata import IcebergMetadata
from tidemark.engines.engine_text import EngineText
from tidemark.engines.errors import NotInIcebergError
from tidemark.engines.table_uri import table_uri
from tidemark.quoting import datafusion, spark
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tidemark.compute.runtime import Runtime
    from tidemark.engines.slice_location import SliceLocation
    from tidemark.system.table_location import TableLocation


class IcebergTag(NamedTuple):
    """A tag and its snapshot in the Iceberg table at `table`."""

    table: TableLocation
    name: str
    snapshot_id: int


def iceberg_tag(runtime: Runtime, location: SliceLocation) -> IcebergTag:
    """The tag of a slice or tag. Raises NotInIcebergError."""
    entity = location.entity
    if "iceberg" not in runtime.warehouse.entities[entity].read_by:
        raise NotInIcebergError.undeclared(entity)
    metadata = IcebergMetadata.of(runtime.warehouse.settings.warehouse, entity)
    newest = metadata.newest()
    tag = newest.content["refs"].get(location.name) if newest else None
    if tag is None:
        why = iceberg_troubles(runtime.database).get(entity) or "nothing of that name"
        raise NotInIcebergError.missing(entity, location.name, why)
    return IcebergTag(metadata.location, location.name, tag["snapshot-id"])


def iceberg_text(engine: str, tag: IcebergTag) -> EngineText:
    """The code for the named reader."""
    language, write = _READERS[engine]
    return EngineText(language, is_tested=True, text=write(tag))


def _pyiceberg(tag: IcebergTag) -> str:
    return (
        "from pyiceberg.table import StaticTable\n\n"
        f"table = StaticTable.from_metadata({json_text(table_uri(tag.table), ensure_ascii=False)})\n"
        f"snapshot = table.snapshot_by_name({json_text(tag.name, ensure_ascii=False)})\n"
        "rows = table.scan(snapshot_id=snapshot.snapshot_id).to_arrow()\n"
    )


def _duckdb(tag: IcebergTag) -> str:
    place = datafusion.sql_literal(table_uri(tag.table))
    return (
        "INSTALL iceberg;\nLOAD iceberg;\n"
        f"SELECT * FROM iceberg_scan({place}, snapshot_from_id => {tag.snapshot_id});\n"
    )


def _spark(tag: IcebergTag) -> str:
    # A version of digits alone is a snapshot's id to Spark.
    version = str(tag.snapshot_id) if tag.name.isdecimal() else spark.text_literal(tag.name)
    lake = tag.table.parent
    return (
        "-- a catalog named iceberg: spark.sql.catalog.iceberg = org.apache.iceberg.spark.SparkCatalog,\n"
        "-- spark.sql.catalog.iceberg.type = hadoop,\n"
        f"-- spark.sql.catalog.iceberg.warehouse = {lake}\n"
        f"SELECT * FROM iceberg.{spark.quote(tag.table.name)} VERSION AS OF {version};\n"
    )


_READERS: Final[Mapping[str, tuple[Literal["python", "sql"], Callable[[IcebergTag], str]]]] = {
    "iceberg": ("python", _pyiceberg),
    "iceberg-duckdb": ("sql", _duckdb),
    "iceberg-spark": ("sql", _spark),
}
