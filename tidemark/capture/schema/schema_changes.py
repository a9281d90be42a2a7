"""What the source's schema changes make of a table's columns: new ones, wider ones, or an end of it."""

from collections.abc import Iterable, Mapping, Sequence

from tidemark.capture.apply.commit import CommitState
from tidemark.capture.binlog.guard import Order
from tidemark.capture.errors import ColumnTypeError
from tidemark.capture.planning.planner import Batch
from tidemark.capture.schema.column_types import SourceColumn
from tidemark.capture.schema.table_columns import Shape, TableColumns, in_lake
from tidemark.capture.schema.widening import conversion
from tidemark.capture.source.scan import Scan
from tidemark.capture.source.summary import SchemaChange
from tidemark.capture.source_table import SourceTable


def columns_by_batch(
    table: SourceTable, scan: Scan, order: Order, batches: Sequence[Batch], state: CommitState
) -> list[TableColumns]:
    """The columns at the end of each batch. Raises ColumnTypeError."""
    first = {f"{instance}.{physical}": offset for (instance, physical), offset in scan.summary.first_changes.items()}
    begun = {**first, **dict.fromkeys(state.watermarks, 0)}
    mine = [one for one in scan.summary.schema_changes if table.holds(one.instance, one.schema.physical)]
    new = [one for one in mine if not order.is_repeated(one.instance, one.offset, one.position)]
    found, known = [], state.columns
    for batch in batches:
        known = evolved(known, (one for one in new if one.offset in batch.spans[one.instance]), begun)
        found.append(known)
    return found


def of_one_type(columns: Sequence[TableColumns]) -> list[slice]:
    """Batches cut before each one with which a column becomes wider."""
    cuts = [at for at in range(1, len(columns)) if columns[at].widened_since(columns[at - 1])]
    return [slice(start, end) for start, end in zip([0, *cuts], [*cuts, len(columns)], strict=True)]


def evolved(known: TableColumns, changes: Iterable[SchemaChange], begun: Mapping[str, int]) -> TableColumns:
    """`known` and what `changes` add and widen, in order. A dropped column stays, NULL from then on.

    `begun` are the offsets of the shards' first rows: until then a shard may say anything that the lake's type holds,
    later only what holds all that it wrote before. Raises ColumnTypeError where a column's new type does not, or where
    neither it nor the lake's holds the other.
    """
    evolving = _Evolving(known, begun)
    for change in changes:
        for column in change.schema.columns:
            evolving.declare(change, column)
    return evolving.columns()


class _Evolving:
    """Columns while many shards declare theirs."""

    def __init__(self, known: TableColumns, begun: Mapping[str, int]) -> None:
        self._known = known
        self._begun = begun
        self._lake = dict(known.by_name)
        self._names = {name.lower(): name for name in self._lake}
        self._first = dict(known.first)
        self._new: dict[tuple[str, str], Shape] = {}
        self._shapes = list(known.shapes)

    def columns(self) -> TableColumns:
        """What came of it."""
        return TableColumns(tuple(self._lake.values()), self._first, tuple(self._shapes))

    def declare(self, change: SchemaChange, column: SourceColumn) -> None:
        """One column as a shard has it from then on."""
        column = in_lake(column, self._names)
        self._names.setdefault(column.name.lower(), column.name)
        lake = self._lake.setdefault(column.name, column)
        before = self._shape_before(change, column.name)
        if before.form == column.form:
            return
        if self._has_rows(change) and conversion(before, column) is None:
            raise ColumnTypeError.changed(change.schema.physical, column.name, before.described, column.described)
        if conversion(column, lake) is None:
            self._widen(change, column, lake)
        shape = Shape(change.shard, change.offset, column)
        self._new[change.shard, column.name] = shape
        self._shapes.append(shape)

    def _shape_before(self, change: SchemaChange, name: str) -> SourceColumn:
        if (change.shard, name) in self._new:
            return self._new[change.shard, name].column
        if name in self._known.by_name:
            return self._known.shape_at(change.shard, name, change.offset)
        return self._first.get(name, self._lake[name])

    def _has_rows(self, change: SchemaChange) -> bool:
        return self._begun.get(change.shard, change.offset) < change.offset

    def _widen(self, change: SchemaChange, column: SourceColumn, lake: SourceColumn) -> None:
        if conversion(lake, column) is None:
            raise ColumnTypeError.changed(change.schema.physical, column.name, lake.described, column.described)
        self._first.setdefault(column.name, lake)
        self._lake[column.name] = column
