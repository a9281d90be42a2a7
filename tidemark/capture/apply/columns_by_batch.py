"""The table's columns at the end of each planned batch, and the batches that can be merged together."""

from collections.abc import Sequence
from dataclasses import replace

from tidemark.capture.commits.commit_state import CommitState
from tidemark.capture.errors import DeclarationError, DeclaredKeyError
from tidemark.capture.planning.commit_planner import PlannedBatch
from tidemark.capture.planning.continuity_of_scan import BinlogOrder
from tidemark.capture.planning.table_forms import table_forms
from tidemark.capture.schema.column_names import ColumnNamesError, lake_name
from tidemark.capture.schema.recorded_schema import TableSchema
from tidemark.capture.schema.schema_changes import evolve
from tidemark.capture.schema.table_columns import TableColumns
from tidemark.capture.source.scan import Scan
from tidemark.capture.source_table import SourceTable


def columns_by_batch(
    table: SourceTable, scan: Scan, order: BinlogOrder, batches: Sequence[PlannedBatch], state: CommitState
) -> list[TableColumns]:
    """The columns at the end of each batch. Raises ColumnTypeError, DeclaredKeyError."""
    first = {f"{instance}.{physical}": offset for (instance, physical), offset in scan.summary.first_changes.items()}
    begun = {**first, **dict.fromkeys(state.watermarks, 0)}
    mine = [change for change in scan.summary.schema_changes if table.holds(change.instance, change.schema.physical)]
    new = [change for change in mine if not order.is_repeated(change.instance, change.offset, change.position)]
    forms = table_forms(table, scan.summary, order, state.columns.forms)
    by_batch, known = [], state.columns
    for batch in batches:
        here = [change for change in new if change.offset in batch.spans[change.instance]]
        for change in here:
            check_key(table, change.schema)
        known = evolve(known, here, begun, table.excluded)
        if forms.turns:
            known = replace(known, forms=forms.at({name: span.end for name, span in batch.spans.items()}))
        by_batch.append(known)
    return by_batch


def check_key(table: SourceTable, schema: TableSchema) -> None:
    """Raise DeclaredKeyError if a shard has another primary key than the declared one, or none."""
    if schema.primary_key is None:
        return
    try:
        there = {lake_name(name).lower() for name in schema.primary_key}
    except ColumnNamesError as error:
        raise DeclarationError.of(schema.physical, str(error)) from error
    if there != {name.lower() for name in table.key}:
        raise DeclaredKeyError.of(schema.physical, table.key, schema.primary_key)


def of_one_type(columns: Sequence[TableColumns]) -> list[slice]:
    """Groups of consecutive batches. A new group begins at each batch in which a column becomes wider."""
    cuts = [at for at in range(1, len(columns)) if columns[at].wider_columns_since(columns[at - 1])]
    return [slice(start, end) for start, end in zip([0, *cuts], [*cuts, len(columns)], strict=True)]
