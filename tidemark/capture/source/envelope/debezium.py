"""Debezium's envelope, in files or in Kafka, parsed once.

https://debezium.io/documentation/reference/connectors/mariadb.html#mariadb-events, without schemas in the messages.
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from tidemark.capture.source.change_files import ChangeFile
from tidemark.capture.source.envelope.change_record import line_of_message
from tidemark.capture.source.possible_event_time import is_event_time
from tidemark.capture.source_table import topic_of

_VALUE = """
    op: STRING, before: STRING, after: STRING, tableChanges: STRING, ddl: STRING, databaseName: STRING,
    id: STRING, aggregate_type: STRING, type: STRING, additional_data: MAP<STRING, STRING>,
    source: STRUCT<
        ts_ms: BIGINT, db: STRING, table: STRING, snapshot: STRING, file: STRING, pos: BIGINT, row: INT, gtid: STRING
    >
"""
_OPTIONS = {"columnNameOfCorruptRecord": "_corrupt"}

_EMPTY = "EMPTY"
_READ = ("SUCCEEDED", _EMPTY)
"""The statuses of a load that has read its table."""


def read_files(spark: SparkSession, files: Sequence[ChangeFile]) -> DataFrame:
    """All records of `files`, lazily: nothing is checked yet."""
    lines = spark.read.text([str(file.path) for file in files]).select(
        sf.col("value").alias("line"), sf.col("_metadata.file_path").alias("path")
    )
    record = f"topic STRING, partition INT, offset BIGINT, _corrupt STRING, value STRUCT<{_VALUE}>"
    parsed = lines.select(
        "path",
        "line",
        sf.element_at(sf.split("path", "/"), -2).alias("instance"),
        sf.from_json("line", record, _OPTIONS).alias("r"),
    )
    topics = sf.concat(sf.lit(topic_of("")), sf.col("instance"))
    incomplete = sf.col("r.offset").isNull() | sf.col("r.topic").isNull() | (sf.col("r.topic") != topics)
    return _records(parsed, sf.col("r").isNull() | sf.col("r._corrupt").isNotNull() | incomplete)


def read_messages(messages: DataFrame) -> DataFrame:
    """The records of Kafka messages with columns instance, topic, partition, offset, key and value (JSON texts)."""
    value = sf.from_json("value", f"STRUCT<{_VALUE}, _corrupt: STRING>", _OPTIONS)
    parsed = messages.select(
        sf.lit(None).cast("string").alias("path"),
        line_of_message().alias("line"),
        "instance",
        sf.struct("offset", value.alias("value")).alias("r"),
        sf.col("value").isNull().alias("is_tombstone"),
    )
    unread = sf.col("r.value").isNull() & ~sf.col("is_tombstone")
    return _records(parsed, unread | sf.col("r.value._corrupt").isNotNull())


def _records(parsed: DataFrame, unreadable: Column) -> DataFrame:
    """The change records.

    A record without a time is invalid, unless it is a tombstone (value null) or a notification.
    """
    written = sf.col("r.value.source.ts_ms")
    timeless = sf.col("r.value").isNotNull() & written.isNull() & ~_is_notification()
    return parsed.select(
        "instance",
        "path",
        "line",
        sf.col("r.offset").alias("offset"),
        sf.lit(0).alias("row"),
        sf.when(~_is_truncate(), sf.col("r.value.op")).alias("op"),
        sf.when(is_event_time(written), written).alias("event_ms"),
        sf.concat_ws(".", "r.value.source.db", "r.value.source.table").alias("physical"),
        sf.col("r.value.before").alias("before"),
        sf.col("r.value.after").alias("after"),
        sf.lit(col=False).alias("text"),
        sf.col("r.value.tableChanges").alias("changes"),
        _statement().alias("ddl"),
        sf.coalesce("r.value.databaseName", "r.value.source.db").alias("ddl_database"),
        sf.when(sf.coalesce(unreadable, sf.lit(col=True)), "not a record of Debezium")
        .when(timeless, "no source.ts_ms")
        .when(~is_event_time(written), "a source.ts_ms outside the range of a binlog")
        .when(_is_load_end() & ~_says_how_load_ended(), "the end of a load without a table or a status")
        .alias("problem"),
        _binlog_file().alias("binlog_file"),
        sf.col("r.value.source.pos").alias("binlog_pos"),
        _binlog_row().alias("binlog_row"),
        sf.col("r.value.source.gtid").alias("gtid"),
        _is_load().alias("is_load"),
        sf.when(_is_load(), sf.col("r.value.source.file")).alias("load_file"),
        _table_of_load().alias("loaded"),
        _problem_of_load().alias("load_problem"),
        sf.when(_is_load_end(), sf.col("r.value.id")).alias("load"),
        _is_empty_end().alias("is_empty"),
    )


def _is_truncate() -> Column:
    """Whether it is a TRUNCATE record. Connectors send these unless they skip them (`skipped.operations`)."""
    return sf.coalesce(sf.col("r.value.op") == "t", sf.lit(col=False))


def _statement() -> Column:
    """The text of an executed statement; NULL for the declarations of an initial load, which executed nothing."""
    source = sf.col("r.value.source")
    truncate = sf.format_string("TRUNCATE TABLE `%s`.`%s`", source["db"], source["table"])
    told = sf.when(sf.col("r.value.op").isNull() & ~_is_load(), sf.col("r.value.ddl"))
    return sf.when(_is_truncate(), truncate).otherwise(told)


def _binlog_row() -> Column:
    """Twice the row's number, plus 1 for an insert: a moved key is a delete and an insert with one row number."""
    is_insert = sf.coalesce(sf.col("r.value.op") == "c", sf.lit(col=False))
    row = sf.coalesce(sf.col("r.value.source.row").cast("bigint"), sf.lit(0).cast("bigint"))
    return row * 2 + is_insert.cast("bigint")


def _binlog_file() -> Column:
    """The binlog file; NULL for an initial load, whose rows all have one meaningless position."""
    return sf.when(~_is_load() & sf.col("r.value.source.pos").isNotNull(), sf.col("r.value.source.file"))


def _is_load() -> Column:
    """Whether a row or declaration was read from the tables, not from the binlog."""
    return sf.coalesce(sf.col("r.value.source.snapshot"), sf.lit("false")) != "false"


def _is_notification() -> Column:
    """Whether it is a notification in the instance's topic.

    https://debezium.io/documentation/reference/configuration/notification.html
    """
    return sf.col("r.value.aggregate_type").isNotNull()


def _table_of_load() -> Column:
    """The physical table whose load has read the last row."""
    data = sf.col("r.value.additional_data")
    return sf.when(_is_load_end() & data["status"].isin(*_READ), data["scanned_collection"])


def _is_empty_end() -> Column:
    """Whether a requested load has found no rows."""
    is_asked = sf.col("r.value.aggregate_type") == "Incremental Snapshot"
    return _is_load_end() & is_asked & (sf.col("r.value.additional_data")["status"] == _EMPTY)


def _problem_of_load() -> Column:
    """The physical table of a failed load, and the connector's status: `db.t SQL_EXCEPTION`."""
    data = sf.col("r.value.additional_data")
    return sf.when(
        _is_load_end() & ~data["status"].isin(*_READ), sf.concat_ws(" ", data["scanned_collection"], data["status"])
    )


def _says_how_load_ended() -> Column:
    """Whether the end of a load has its table and a status."""
    data = sf.col("r.value.additional_data")
    table, status = (sf.coalesce(sf.trim(data[name]), sf.lit("")) for name in ("scanned_collection", "status"))
    return (table != "") & (status != "")


def _is_load_end() -> Column:
    return _is_notification() & (sf.col("r.value.type") == "TABLE_SCAN_COMPLETED")
