"""The change record: one row for each change, in the form that every envelope is turned into.

The images stay JSON text, which is parsed later by the table's own schema. Columns:

* instance; path: the file's URI, NULL from Kafka; offset; row: the change's place in the message, from 0
* op: c, u, d or r; NULL if the record is not a row change
* event_ms
* physical: `school.orders_0`
* table: the logical table; `HEARTBEAT` and `SIGNAL` for our own; NULL if unrouted or not a row change
* before, after: the images as JSON text
* text: whether the images' values are text as the server prints it, else they have Debezium's forms
* changes: declarations and drops of tables as JSON text (recorded_schema.py)
* raw: the line, if the table is unrouted or the record is invalid
* problem: why the record is invalid; NULL if it is valid
* binlog_file: the file's name on the server; NULL for records that are not from a binlog, like the next three
* binlog_pos; binlog_row: grows with the records of one event; gtid
* is_load: whether an initial load read it from the table; its time is then the time of reading
* load_file: the binlog file where the connector goes on after that load, at binlog_pos; else NULL
* loaded: the physical table whose load has ended; else NULL
* load_problem: the physical table whose load failed, and the connector's status; else NULL
* load: the id of the signal that such an end names
* is_empty: whether that load found no rows
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from tidemark.capture.heartbeat.heartbeat_record import TABLE as HEARTBEAT
from tidemark.capture.initial_load.signal_table import TABLE as SIGNAL
from tidemark.capture.source_table import SourceTable


def route(records: DataFrame, tables: Sequence[SourceTable]) -> DataFrame:
    """Completes an adapter's `records`, which lack `table` and `raw`, and have `line`, the record as received."""
    is_well = sf.col("problem").isNull()
    # A record with a problem becomes a dead letter only: neither a change nor a declaration.
    effects = {name: sf.when(is_well, sf.col(name)) for name in ("op", "changes", "ddl", "loaded", "load_problem")}
    named = records.withColumns(effects).withColumn("table", _table(tables))
    unrouted = sf.col("op").isNotNull() & sf.col("table").isNull()
    return named.withColumn("raw", sf.when(unrouted | sf.col("problem").isNotNull(), sf.col("line"))).drop("line")


def line_of_message() -> Column:
    """A Kafka message in the form of a landed file's line: one JSON object."""
    return sf.format_string(
        '{"topic":"%s","partition":%d,"offset":%d,"key":%s,"value":%s}',
        "topic",
        "partition",
        "offset",
        sf.coalesce("key", sf.lit("null")),
        sf.coalesce("value", sf.lit("null")),
    )


def _table(tables: Sequence[SourceTable]) -> Column:
    """The logical table of a record, by the instance and the physical name.

    It is looked up in a map. Comparisons with two hundred tables, one after the other, would cost as much as parsing.
    """
    ours = sf.when(sf.col("op").isNull(), None)
    for own in (HEARTBEAT, SIGNAL):
        ours = ours.when(sf.endswith("physical", sf.lit(f".{own}")), own)
    single = [table for table in tables if table.shards.first is None]
    return ours.otherwise(sf.coalesce(_looked_up(single, sf.col("physical")), _of_shard(tables)))


def _looked_up(tables: Sequence[SourceTable], prefix: Column) -> Column:
    """The table whose name before a shard's number is `prefix`."""
    known = {
        f"{instance} {table.shards.prefix}": table.name for table in reversed(tables) for instance in table.instances
    }
    if not known:
        return sf.lit(None).cast("string")
    named = sf.create_map(*(sf.lit(text) for pair in known.items() for text in pair))
    return sf.try_element_at(named, sf.concat_ws(" ", "instance", prefix))


def _of_shard(tables: Sequence[SourceTable]) -> Column:
    """The table of a shard by the number at the end of its physical name. Declared ranges are compared one by one."""
    prefix = sf.regexp_replace("physical", "[0-9]{1,4}$", "")
    number = sf.regexp_extract("physical", "[0-9]{1,4}$", 0)
    of_any = _looked_up([table for table in tables if table.shards.is_any], prefix)
    logical = sf.when(number != "", of_any)
    for table in tables:
        shards = table.shards
        if shards.first is None or shards.is_any:
            continue
        is_in = number.try_cast("int").between(shards.first, shards.last)
        digits = sf.lit(shards.digits) if shards.digits else sf.length(number.try_cast("int").cast("string"))
        is_mine = (prefix == shards.prefix) & sf.col("instance").isin(*table.instances)
        logical = sf.when(is_mine & is_in & (sf.length(number) == digits), table.name).otherwise(logical)
    return logical
