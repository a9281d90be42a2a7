"""A table, or some of its shards, begun anew: the one way out of whatever holds it.

Its rows go with one commit that also says where its changes are read on from, and that their initial load is pending:
no snapshot is tagged until the source has sent every row again. Older versions, and with them the snapshots that are
tagged, stay as they are; other tables go on.
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
    """Take in a request: (version made, state). The session is this thread's own; `version` is the table's.

    Raises ReloadColumnsError where nobody knows the columns of a table that is not there yet, ColumnTypeError.
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
    """The state with which the table, or its shards, begin anew."""
    touched = {*request.shards, *request.gone}
    pending = ({*state.initial_load_pending} - touched) | {*request.shards}
    begun = replace(
        state.next(changes=0, late=0),
        initial_load_pending=tuple(sorted(pending)),
        reloads=(*state.reloads, request.id)[-_REMEMBERED:],
    )
    if request.keys is not None:
        # Of the other rows nothing is known anew.
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
    """As the source has them now."""
    return evolve(TableColumns(), list(_declared(request)), {}, table.excluded)


def _declared(request: ReloadRequest) -> Iterable[RecordedSchemaChange]:
    for shard, types in request.columns.items():
        instance, _, physical = shard.partition(".")
        said = {"physical": physical, "types": json_text(types)}
        for schema in parse_declarations(json_text(said)).schemas:
            yield RecordedSchemaChange(instance, request.starts.get(instance, 0), schema)


def _rows_of(request: ReloadRequest) -> str:
    """SQL of the rows that go: of the shards what was there before the source was asked, of those gone everything."""
    keys = f" AND {request.keys.condition}" if request.keys else ""
    before = (f"{_before(shard, request.starts)}{keys}" for shard in request.shards)
    gone = (f"`_shard` = {sql_literal(shard)}" for shard in request.gone)
    return " OR ".join(f"({condition})" for condition in (*before, *gone)) or "false"


def _before(shard: str, starts: Mapping[str, int]) -> str:
    start = int(starts[shard.partition(".")[0]])
    return f"`_shard` = {sql_literal(shard)} AND `_offset` < {start}"
