"""Results of quality rules as a table for Spark, DuckDB and notebooks: a copy of the state store's (A5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa
from deltalake import write_deltalake

from tidemark.delta.open_table import answer_for, delta_rs_options
from tidemark.strict_json import json_text
from tidemark.warehouse.reserved_names import RESULTS_TABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.state_store.rule_results import StoredRuleResult
    from tidemark.system.table_location import TableLocation

_SCHEMA: Final = pa.schema(
    [
        ("entity", pa.string()),
        ("slice", pa.string()),
        ("part", pa.string()),
        ("rule", pa.string()),
        ("severity", pa.string()),
        ("outcome", pa.string()),
        ("expected", pa.string()),
        ("reason", pa.string()),
        ("measured", pa.string()),
        ("rows", pa.int64()),
        ("version", pa.int64()),
        ("judged_at", pa.timestamp("us", tz="UTC")),
    ]
)


def results_as_arrow(results: Sequence[StoredRuleResult]) -> pa.Table:
    """One row for each result; `part` is the sub-partition as text, `measured` is JSON."""
    rows = [
        {
            "entity": result.slice.entity,
            "slice": result.slice.key,
            "part": ",".join(f"{name}={value}" for name, value in result.slice.sub),
            "rule": result.rule,
            "severity": result.severity,
            "outcome": result.outcome,
            "expected": result.expected,
            "reason": result.reason,
            "measured": json_text(dict(result.measured), default=str),
            "rows": result.rows,
            "version": result.version,
            "judged_at": result.judged_at,
        }
        for result in results
    ]
    return pa.Table.from_pylist(rows, schema=_SCHEMA)


def write_results_table(warehouse: TableLocation, results: Sequence[StoredRuleResult]) -> TableLocation:
    """Replaces the copy in the lake in one commit. Returns its location."""
    path = warehouse / RESULTS_TABLE
    rows, options = results_as_arrow(results), delta_rs_options(path)
    with answer_for(path):
        write_deltalake(str(path), rows, mode="overwrite", schema_mode="overwrite", storage_options=options)
    return path
