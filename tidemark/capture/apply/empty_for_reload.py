"""Empties a table, or some of its shards, so that it can be loaded again from the source.

This repairs a table whatever the fault is. One commit deletes the rows, stores the offsets to go on from, and marks the
initial load as pending. No snapshot is tagged until the source has sent every row again. Older versions and tagged
snapshots stay as they are. Other tables go on.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from pyspark.sql import SparkSession

from tidemark.capture.commits.commit_state import CommitState
from tidemark.capture.errors import ReloadColumnsError
from tidemark.capture.initial_load.reload_requests import ReloadRequest
from tidemark.capture.schema.column_names import META_COLUMNS
from tidemark.capture.schema.recorded_schema import parse_declarations
from tidemark.capture.schema.schema_changes import RecordedSchemaChange, evolve
from tidemark.capture.schema.table_columns import TableColumns
from tidemark.capture.schema.table_evolution import ensure_table, merge_target
from tidemark.capture.source_table import SourceTable, topic_of
from tidemark.delta.begin_anew import begin_anew
from tidemark.delta.delete_or_set_rows import delete_rows
from tidemark.delta.delta_rs_table import table_exists
from tidemark.delta.empty_commit import commit_nothing
from tidemark.delta.table_features import allow_types
from tidemark.quoting.spark import sql_literal
from tidemark.strict_json import json_text
from tidemark.system.table_location import TableLocation

_REMEMBERED = 20


def reload_table(
    spark: SparkSession,
    table: SourceTable,
    warehouse: TableLocation,
    state: CommitState,
    request: ReloadRequest,
    version: int | None = None,
) -> tuple[int, CommitState]:
    """Carry out a reload request. Returns the version made and the new state.

    Call it with the thread's own session; `version` is the table's current version. Raises ColumnTypeError, and
    ReloadColumnsError if the columns of a new table are unknown.
    """
    begun = replace(_begun(table, state, request), follows=None if request.is_whole else version)
    after = begun.with_identity(table.name)
    if not after.columns:
        raise ReloadColumnsError.of(table.name)
    target, transaction = merge_target(table, after.columns.kinds, warehouse), after.transaction(table.name)
    if not table_exists(target.path):
        ensure_table(spark, target, after.columns.kinds)
        return commit_nothing(spark, target.path, transaction), after
    if not request.is_whole:
        return delete_rows(spark, target.path, _rows_of(request), transaction), after
    allow_types(spark, target.path, after.columns.kinds.values())
    return begin_anew(spark, target.path, {**after.columns.kinds, **META_COLUMNS}, transaction), after


def _begun(table: SourceTable, state: CommitState, request: ReloadRequest) -> CommitState:
    """The state from which the table, or its shards, start again."""
    touched = {*request.shards, *request.gone}
    pending = ({*state.initial_load_pending} - touched) | {*request.shards}
    begun = replace(
        state.next(changes=0, late=0),
        initial_load_pending=tuple(sorted(pending)),
        reloads=(*state.reloads, request.id)[-_REMEMBERED:],
    )
    if request.keys is not None:
        # The request covers a key range only: nothing is known about the other rows.
        return begun
    begun = replace(
        begun,
        watermarks={name: ms for name, ms in state.watermarks.items() if name not in touched},
        holds=state.holds.of_others(touched),
    )
    if not request.is_whole:
        return begun
    topics = {topic_of(instance): start for instance, start in request.starts.items()}
    ids = {topic_of(instance): topic_id for instance, topic_id in request.topic_ids.items() if topic_id}
    return replace(
        begun,
        offsets={**state.offsets, **topics},
        topic_ids={**{topic: known for topic, known in state.topic_ids.items() if topic not in topics}, **ids},
        positions={name: progress for name, progress in state.positions.items() if name not in request.starts},
        columns=_columns(table, request) or state.columns,
    )


def _columns(table: SourceTable, request: ReloadRequest) -> TableColumns:
    """The columns that the source has now."""
    return evolve(TableColumns(), list(_declared(request)), {}, table.excluded)


def _declared(request: ReloadRequest) -> Iterable[RecordedSchemaChange]:
    for shard, types in request.columns.items():
        instance, _, physical = shard.partition(".")
        said = {"physical": physical, "types": json_text(types)}
        for schema in parse_declarations(json_text(said)).schemas:
            yield RecordedSchemaChange(instance, request.starts.get(instance, 0), schema)


def _rows_of(request: ReloadRequest) -> str:
    """The SQL condition of the rows to delete.

    All rows of dropped shards are deleted, and of reloaded shards the rows before the start offset.
    """
    keys = f" AND {request.keys.condition}" if request.keys else ""
    before = (f"{_before(shard, request.starts)}{keys}" for shard in request.shards)
    gone = (f"`_shard` = {sql_literal(shard)}" for shard in request.gone)
    return " OR ".join(f"({condition})" for condition in (*before, *gone)) or "false"


def _before(shard: str, starts: Mapping[str, int]) -> str:
    start = int(starts[shard.partition(".")[0]])
    return f"`_shard` = {sql_literal(shard)} AND `_offset` < {start}"
