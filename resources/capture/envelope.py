"""Debezium's envelope as it is recorded, read by Spark: one row a record, images still as JSON text.

The line is parsed once here; a table's images are parsed with the table's own schema later. Columns:
instance, path (file URI), offset, op (NULL for what is no row change), event_ms, physical (`school.orders_0`), table
(logical; `HEARTBEAT` for the heartbeat, NULL for nobody's and for no row change), before, after (JSON text), changes
(tableChanges, JSON text), raw (the line, only where the table is nobody's), bad (the record is none).
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from resources.capture.landing import ChangeFile
from resources.capture.source import SourceTable, topic_of

HEARTBEAT = "heartbeat"

_RECORD = """
    topic STRING, partition INT, offset BIGINT, _corrupt STRING,
    value STRUCT<
        op: STRING, before: STRING, after: STRING, tableChanges: STRING,
        source: STRUCT<ts_ms: BIGINT, db: STRING, table: STRING>
    >
"""


def read_records(spark: SparkSession, files: Sequence[ChangeFile], tables: Sequence[SourceTable]) -> DataFrame:
    """All records of `files`; lazily, nothing is checked yet."""
    lines = spark.read.text([str(file.path) for file in files]).select(
        sf.col("value").alias("line"), sf.col("_metadata.file_path").alias("path")
    )
    parsed = lines.select(
        "path",
        "line",
        sf.element_at(sf.split("path", "/"), -2).alias("instance"),
        sf.from_json("line", _RECORD, {"columnNameOfCorruptRecord": "_corrupt"}).alias("r"),
    )
    named = parsed.withColumn("physical", sf.concat_ws(".", "r.value.source.db", "r.value.source.table"))
    routed = named.withColumn("table", route(tables))
    return routed.select(
        "instance",
        "path",
        sf.col("r.offset").alias("offset"),
        sf.col("r.value.op").alias("op"),
        sf.col("r.value.source.ts_ms").alias("event_ms"),
        "physical",
        "table",
        sf.col("r.value.before").alias("before"),
        sf.col("r.value.after").alias("after"),
        sf.col("r.value.tableChanges").alias("changes"),
        sf.when(_is_nobodys(), sf.col("line")).alias("raw"),
        _is_bad().alias("bad"),
    )


def route(tables: Sequence[SourceTable]) -> Column:
    """The logical table of a record, by the instance and the physical name."""
    choice = sf.when(sf.col("r.value.op").isNull(), None).when(sf.col("r.value.source.table") == HEARTBEAT, HEARTBEAT)
    for table in tables:
        here = sf.col("instance").isin(*table.instances) & sf.col("physical").rlike(table.regex)
        choice = choice.when(here, table.name)
    return choice


def _is_nobodys() -> Column:
    return sf.col("r.value.op").isNotNull() & sf.col("table").isNull()


def _is_bad() -> Column:
    """Not JSON, or without what every record has; a tombstone (value null) has no time."""
    topics = sf.concat(sf.lit(topic_of("")), sf.col("instance"))
    incomplete = sf.col("r.offset").isNull() | sf.col("r.topic").isNull() | (sf.col("r.topic") != topics)
    timeless = sf.col("r.value").isNotNull() & sf.col("r.value.source.ts_ms").isNull()
    return sf.col("r").isNull() | sf.col("r._corrupt").isNotNull() | incomplete | timeless
