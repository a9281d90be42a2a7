"""Changes of undeclared tables, stored in a Delta table, so that a later declaration loses nothing."""

from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from tidemark.capture.commits.commit_state import APP, CommitState, last_commit
from tidemark.capture.source.scan import Scan
from tidemark.capture.source_table import topic_of
from tidemark.system.table_location import TableLocation

TABLE = "_unrouted"


class Unrouted:
    """The table `_unrouted`: topic, offset, physical, event_time, raw (the line as received)."""

    def __init__(self, warehouse: TableLocation) -> None:
        self._path = warehouse / TABLE

    def keep(self, scan: Scan) -> list[str]:
        """Append new changes. Returns one warning for each table, with the first file and line."""
        if not scan.summary.unrouted_count:
            return []
        last = last_commit(self._path)
        state = CommitState() if last is None else last.state
        rows = scan.records.where("raw IS NOT NULL AND problem IS NULL").dropDuplicates(["instance", "offset"])
        for topic, offset in state.offsets.items():
            rows = rows.where((sf.concat(sf.lit(topic_of("")), "instance") != topic) | (sf.col("offset") >= offset))
        counted = rows.groupBy("instance", "physical").agg(
            sf.count("*").alias("changes"), sf.min("offset").alias("first"), sf.max("offset").alias("last")
        )
        counts = counted.collect()
        if not counts:
            return []
        ends: dict[str, int] = dict(state.offsets)
        for row in counts:
            ends[topic_of(row.instance)] = max(row.last + 1, ends.get(topic_of(row.instance), 0))
        self._append(rows, replace(state, batch=state.batch + 1, offsets=ends))
        return [_warning(scan, row.instance, row.physical, row.changes, row.first) for row in counts]

    def _append(self, rows: DataFrame, state: CommitState) -> None:
        kept = rows.select(
            sf.concat(sf.lit(topic_of("")), "instance").alias("topic"),
            "offset",
            "physical",
            sf.timestamp_millis("event_ms").alias("event_time"),
            "raw",
        )
        (
            kept.write.format("delta")
            .mode("append")
            .option("userMetadata", state.to_json())
            .option("txnAppId", f"{APP}:{TABLE}")
            .option("txnVersion", state.batch)
            .save(str(self._path))
        )


def _warning(scan: Scan, instance: str, physical: str, changes: int, first: int) -> str:
    return (
        f"{instance}.{physical}: {changes} changes of a table that no entity declares, the first at "
        f"{scan.place(instance, first)}: kept in the Delta table {TABLE}; declare the table with "
        f"source: {{table: {physical}, instances: [{instance}]}}"
    )
