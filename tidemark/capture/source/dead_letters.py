"""Records that cannot be applied, stored with their origin and the reason, so that capture goes on."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from functools import reduce
from threading import Lock
from typing import Any, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from tidemark.capture.source.scan import Scan
from tidemark.capture.source.scan_summary import MalformedDeclaration
from tidemark.capture.source_table import SourceTable, topic_of
from tidemark.delta.delta_rs_table import read_table, table_exists
from tidemark.delta.open_table import open_table
from tidemark.quoting.spark import sql_literal
from tidemark.system.table_location import TableLocation

TABLE = "_dead_letters"
# Tables are ingested in parallel threads; leases keep other processes away.
_WRITING = Lock()
_KEY = ["topic", "partition", "offset", "row"]


class DeadLetter(NamedTuple):
    """One record. `row` is its place in the message, `physical` its table if known, `raw` the text as received.

    `replayed_at` (UTC) is when it was merged after all, None while it waits.
    """

    topic: str
    partition: int
    offset: int
    row: int
    event_time: datetime | None
    physical: str | None
    reason: str
    raw: str | None
    replayed_at: datetime | None = None


class DeadLetters:
    """The Delta table `_dead_letters`. It has each record once, however often that is read."""

    def __init__(self, warehouse: TableLocation) -> None:
        self._path = warehouse / TABLE

    def keep_messages(self, scan: Scan, malformed: Collection[MalformedDeclaration] = ()) -> list[str]:
        """Append messages that are not change records, and the `malformed` declarations without a table.

        Returns warnings.
        """
        letters = [_declaration(scan.records, declaration) for declaration in malformed]
        if scan.poison:
            poison = scan.records.where("problem IS NOT NULL")
            letters.append(_letters(poison, sf.col("problem"), sf.col("raw")))
        return self._keep(reduce(DataFrame.unionByName, letters)) if letters else []

    def _keep(self, letters: DataFrame) -> list[str]:
        with _WRITING:
            new = self._new(letters)
            summed = new.agg(sf.count("*").alias("new"), sf.min(sf.struct("topic", "offset", "reason")).alias("first"))
            (row,) = summed.collect()
            if row["new"]:
                self._append(new)
        return [_warning(row["new"], *row["first"])] if row["new"] else []

    def keep_changes(self, scan: Scan, table: SourceTable, bad: DataFrame) -> None:
        """Append the table's changes in `bad` (_shard, _offset, _row)."""
        shard = sf.concat_ws(".", "instance", "physical").alias("_shard")
        named = bad.withColumnsRenamed({"_offset": "offset", "_row": "row"})
        changes = scan.records.where(sf.col("table") == table.name).withColumn("_shard", shard)
        raw = sf.to_json(sf.struct("op", "before", "after"))
        kept = changes.join(sf.broadcast(named), ["_shard", "offset", "row"], "left_semi")
        with _WRITING:
            self._append(self._new(_letters(kept, sf.lit("a value does not fit the type of its column"), raw)))

    def all(self) -> list[DeadLetter]:
        """All records, in order. The table is read without a JVM."""
        if not table_exists(self._path):
            return []
        rows = open_table(self._path).to_pyarrow_table().to_pylist()
        return sorted((_letter(row) for row in rows), key=lambda letter: letter[:4])

    def waiting(self) -> list[DeadLetter]:
        """The records that were not replayed yet."""
        return [letter for letter in self.all() if letter.replayed_at is None]

    def note_replayed(self, letters: Iterable[DeadLetter], now: datetime) -> None:
        """Mark records as replayed, in one commit."""
        places = defaultdict(list)
        for letter in letters:
            places[letter.topic].append(f"(offset = {letter.offset} AND row = {letter.row})")
        if not places:
            return
        of_topics = (
            f"(topic = {sql_literal(topic)} AND ({' OR '.join(conditions)}))" for topic, conditions in places.items()
        )
        open_table(self._path).update(predicate=" OR ".join(of_topics), new_values={"replayed_at": now})

    def _new(self, letters: DataFrame) -> DataFrame:
        """The records that are not stored yet."""
        if not table_exists(self._path):
            return letters
        there = read_table(letters.sparkSession, self._path).select(*_KEY)
        return letters.join(there, _KEY, "left_anti")

    def _append(self, letters: DataFrame) -> None:
        letters.write.format("delta").mode("append").save(str(self._path))


def _declaration(records: DataFrame, malformed: MalformedDeclaration) -> DataFrame:
    mine = records.where((sf.col("instance") == malformed.instance) & (sf.col("offset") == malformed.offset))
    return _letters(mine, sf.lit(f"an unreadable schema change: {malformed.problem}"), sf.col("changes"))


def _warning(new: int, topic: str, offset: int, reason: str) -> str:
    others = f" and {new - 1} more" if new > 1 else ""
    return f"{topic} offset {offset}: {reason}{others}: kept in the dead-letter queue, see tidemark dlq list"


def _letters(records: DataFrame, reason: Column, raw: Column) -> DataFrame:
    return records.select(
        sf.concat(sf.lit(topic_of("")), "instance").alias("topic"),
        sf.lit(0).alias("partition"),
        "offset",
        "row",
        sf.timestamp_millis("event_ms").alias("event_time"),
        "physical",
        reason.alias("reason"),
        raw.alias("raw"),
        sf.lit(None).cast("timestamp").alias("replayed_at"),
    )


def _letter(row: Mapping[str, Any]) -> DeadLetter:
    return DeadLetter(**row)
