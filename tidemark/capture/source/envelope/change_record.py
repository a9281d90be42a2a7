"""The change record: what every envelope is turned into, one row a change, images still as JSON text.

A table's images are parsed with the table's own schema later. Columns:

instance, path (file URI, NULL from Kafka), offset, row (of the changes in a message, from 0), op (c, u, d, r; NULL for
what is no row change), event_ms, physical (`school.orders_0`), table (logical; `HEARTBEAT` and `SIGNAL` for our own,
NULL for an unrouted one and for no row change), before, after (JSON text), text (whether the images' values are text as
the server prints it, else Debezium's forms), changes (what declares or drops tables, JSON text: declarations.py), raw
(the line, where the table is unrouted or the record is none), problem (why it is none; NULL when all is well),
binlog_file (its name as the server has it; NULL for what no binlog has, and the next three say nothing then),
binlog_pos, binlog_row (grows with the records of one event), gtid, is_load (whether it was read from the table, in a
first load, and not from the binlog: its time is that of the reading), load_file (the binlog file behind which the
connector goes on after that load, its place in it is binlog_pos; NULL for what is of no load), loaded (the physical
table of which that load has come to its end; NULL for all others), load_problem (the physical table of which a load
has not read all, and how the connector names the reason), load (the id of the signal that such an end names), is_empty
(whether it has found no rows).
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from tidemark.capture.heartbeat.heartbeat_record import TABLE as HEARTBEAT
from tidemark.capture.initial_load.signal_table import TABLE as SIGNAL
from tidemark.capture.source_table import SourceTable


def route(records: DataFrame, tables: Sequence[SourceTable]) -> DataFrame:
    """The change records of an adapter: those columns, less `table` and `raw`, and `line`, the record as it came."""
    is_well = sf.col("problem").isNull()
    # A record with a problem is a dead letter and nothing else: no change, and no declaration.
    effects = {name: sf.when(is_well, sf.col(name)) for name in ("op", "changes", "ddl", "loaded", "load_problem")}
    named = records.withColumns(effects).withColumn("table", _table(tables))
    unrouted = sf.col("op").isNotNull() & sf.col("table").isNull()
    return named.withColumn("raw", sf.when(unrouted | sf.col("problem").isNotNull(), sf.col("line"))).drop("line")


def line_of_message() -> Column:
    """A Kafka message in the form that a landed file has: one JSON object."""
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

    Looked up, not compared with one table after the other: of two hundred tables that would cost as much as parsing.
    """
    ours = sf.when(sf.col("op").isNull(), None)
    for own in (HEARTBEAT, SIGNAL):
        ours = ours.when(sf.endswith("physical", sf.lit(f".{own}")), own)
    single = [table for table in tables if table.shards.first is None]
    return ours.otherwise(sf.coalesce(_looked_up(single, sf.col("physical")), _of_shard(tables)))


def _looked_up(tables: Sequence[SourceTable], prefix: Column) -> Column:
    """The table whose name before a shard's number that is."""
    known = {
        f"{instance} {table.shards.prefix}": table.name for table in reversed(tables) for instance in table.instances
    }
    if not known:
        return sf.lit(None).cast("string")
    named = sf.create_map(*(sf.lit(text) for pair in known.items() for text in pair))
    return sf.try_element_at(named, sf.concat_ws(" ", "instance", prefix))


def _of_shard(tables: Sequence[SourceTable]) -> Column:
    """The table that the physical name's last number is a shard's of; ranges of numbers are looked at one by one."""
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
