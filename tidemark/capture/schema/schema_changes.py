"""Applies the source's schema changes to a table's columns: adds or widens columns, or raises an error."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from tidemark.capture.binlog.position import Position
from tidemark.capture.errors import ColumnTypeError, UnknownColumnTypeError
from tidemark.capture.schema.column_names import lake_name
from tidemark.capture.schema.lake_column_types import SourceColumn
from tidemark.capture.schema.recorded_schema import TableSchema
from tidemark.capture.schema.table_columns import ColumnShape, TableColumns, in_lake
from tidemark.capture.schema.type_widening import conversion


@dataclass(frozen=True)
class RecordedSchemaChange:
    """A table's columns from `offset` of the instance's topic on; `position` is the place in the binlog."""

    instance: str
    offset: int
    schema: TableSchema
    position: Position | None = None

    @property
    def shard(self) -> str:
        """The instance and the physical table."""
        return f"{self.instance}.{self.schema.physical}"


def evolve(
    known: TableColumns,
    changes: Iterable[RecordedSchemaChange],
    begun: Mapping[str, int],
    excluded: Collection[str] = (),
) -> TableColumns:
    """`known`, with the columns that `changes` add and widen, in order. A dropped column stays, as NULL.

    `begun` are the offsets of the shards' first rows. Before its first row, a shard may declare any type that fits the
    lake's. Later its new type must hold all values of its old one. Columns in `excluded` (lower case) are left out, and
    so are columns of a type without a counterpart in the lake. They are not added later either, because rows that are
    merged already would lack their values. Raises ColumnTypeError if a column's new type does not hold the old one's
    values, or if neither it nor the lake's type holds the other.
    """
    evolving = _Evolving(known, begun)
    for change in changes:
        declared = change.schema.source_columns(excluded)
        for name, error in declared.unknown.items():
            evolving.quarantine(name, error)
        for column in declared.columns:
            evolving.declare(change, column)
    return evolving.columns()


class _Evolving:
    """Columns while several shards declare theirs."""

    def __init__(self, known: TableColumns, begun: Mapping[str, int]) -> None:
        self._known = known
        self._begun = begun
        self._lake = dict(known.by_name)
        self._names = {name.lower(): name for name in self._lake}
        self._first = dict(known.first)
        self._new: dict[tuple[str, str], ColumnShape] = {}
        self._shapes = list(known.shapes)
        self._quarantined = dict(known.quarantined)

    def columns(self) -> TableColumns:
        """The resulting columns."""
        shapes, forms = tuple(self._shapes), self._known.forms
        return TableColumns(tuple(self._lake.values()), self._first, shapes, self._quarantined, forms)

    def quarantine(self, name: str, error: UnknownColumnTypeError) -> None:
        """Leave out a column without a matching type in the lake.

        If it had another type before, raise: the table stops.
        """
        if lake_name(name).lower() in self._names:
            raise error
        self._quarantined.setdefault(name, error.found or "")

    def declare(self, change: RecordedSchemaChange, column: SourceColumn) -> None:
        """Apply one column of a shard's declaration."""
        if column.source_name in self._quarantined:
            return
        column = in_lake(column, self._names)
        self._names.setdefault(column.name.lower(), column.name)
        lake = self._lake.setdefault(column.name, column)
        before = self._shape_before(change, column.name)
        if before.form == column.form:
            return
        if self._has_rows(change) and conversion(before, column) is None:
            raise ColumnTypeError.changed(change.schema.physical, column.name, before.description, column.description)
        if conversion(column, lake) is None:
            self._widen(change, column, lake)
        shape = ColumnShape(change.shard, change.offset, column)
        self._new[change.shard, column.name] = shape
        self._shapes.append(shape)

    def _shape_before(self, change: RecordedSchemaChange, name: str) -> SourceColumn:
        if (change.shard, name) in self._new:
            return self._new[change.shard, name].column
        if name in self._known.by_name:
            return self._known.shape_at(change.shard, name, change.offset)
        return self._first.get(name, self._lake[name])

    def _has_rows(self, change: RecordedSchemaChange) -> bool:
        return self._begun.get(change.shard, change.offset) < change.offset

    def _widen(self, change: RecordedSchemaChange, column: SourceColumn, lake: SourceColumn) -> None:
        if conversion(lake, column) is None:
            raise ColumnTypeError.changed(change.schema.physical, column.name, lake.description, column.description)
        self._first.setdefault(column.name, lake)
        self._lake[column.name] = column
