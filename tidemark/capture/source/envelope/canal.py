"""Canal's flat messages in Kafka. A message may hold many rows of one statement; each becomes a change record.

https://github.com/alibaba/canal/wiki/Canal-Kafka-RocketMQ-QuickStart. All values are text as the server prints them,
`old` has only the changed columns, and there is no binlog position. Identity and order are topic, partition, offset and
the row's place in the message. Every message has its columns' types. Statements that Canal cannot parse come as text
(`QUERY`).
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from tidemark.capture.source.envelope.change_record import line_of_message
from tidemark.capture.source.possible_event_time import is_event_time

_VALUE = """
    type: STRING, database: STRING, table: STRING, es: BIGINT, isDdl: BOOLEAN, sql: STRING, mysqlType: STRING,
    pkNames: ARRAY<STRING>, data: ARRAY<MAP<STRING, STRING>>, old: ARRAY<MAP<STRING, STRING>>, _corrupt: STRING
"""
_KINDS = {"INSERT": "c", "UPDATE": "u", "DELETE": "d"}
_DROP = "ERASE"
# Transaction marks, and the server's notes about row changes (annotated row events).
_CHANGING = (
    r"(?i)^\s{0,100}(begin|commit|rollback|savepoint|release|xa|insert|update|delete|replace|load|with|select|call)\b"
)
_READ = 2_000
# The most members of a SET.
_SET_MEMBERS = 64


def read_messages(messages: DataFrame) -> DataFrame:
    """The records of Kafka messages with columns instance, topic, partition, offset, key and value (JSON texts)."""
    parsed = messages.select(
        "instance",
        "offset",
        line_of_message().alias("line"),
        sf.from_json("value", f"STRUCT<{_VALUE}>", {"columnNameOfCorruptRecord": "_corrupt"}).alias("v"),
    )
    typed = parsed.withColumn("kinds", sf.from_json("v.mysqlType", "MAP<STRING, STRING>"))
    rows = typed.select("*", sf.posexplode_outer(_rows()).alias("row", "change"))
    return (
        rows.withColumn("data", _with_words(sf.get("v.data", sf.col("change.at"))))
        .withColumn("op", sf.when(sf.col("data").isNotNull(), sf.col("change.op")))
        .select(
            "instance",
            sf.lit(None).cast("string").alias("path"),
            "line",
            "offset",
            sf.coalesce("row", sf.lit(0)).alias("row"),
            "op",
            sf.when(is_event_time(sf.col("v.es")), sf.col("v.es")).alias("event_ms"),
            sf.concat_ws(".", "v.database", "v.table").alias("physical"),
            _before().alias("before"),
            sf.when(sf.col("op").isin("c", "u"), sf.to_json("data")).alias("after"),
            sf.lit(col=True).alias("text"),
            _changes().alias("changes"),
            sf.when(_is_ddl() | _is_other_statement(), sf.col("v.sql")).alias("ddl"),
            sf.col("v.database").alias("ddl_database"),
            _problem().alias("problem"),
            sf.lit(None).cast("string").alias("binlog_file"),
            sf.lit(None).cast("bigint").alias("binlog_pos"),
            sf.lit(None).cast("bigint").alias("binlog_row"),
            sf.lit(None).cast("string").alias("gtid"),
            sf.lit(col=False).alias("is_load"),
            sf.lit(None).cast("string").alias("load_file"),
            sf.lit(None).cast("string").alias("loaded"),
            sf.lit(None).cast("string").alias("load_problem"),
            sf.lit(None).cast("string").alias("load"),
            sf.lit(None).cast("boolean").alias("is_empty"),
        )
    )


def _rows() -> Column:
    """Each change's index in `data` and its operation. A row that gets another key becomes a delete and an insert."""

    def changes(_: Column, at: Column) -> Column:
        moved = sf.array(_change(at, sf.lit("d")), _change(at, sf.lit("c")))
        return sf.when(_is_moved(at), moved).otherwise(sf.array(_change(at, _kind())))

    return sf.when(sf.col("v.type").isin(*_KINDS) & ~_is_ddl(), sf.flatten(sf.transform("v.data", changes)))


def _change(at: Column, op: Column) -> Column:
    return sf.struct(at.alias("at"), op.alias("op"))


def _is_moved(at: Column) -> Column:
    """Whether an update changed a key column."""
    old = sf.get("v.old", at)
    moved = sf.exists("v.pkNames", lambda name: sf.map_contains_key(old, name))
    return (sf.col("v.type") == "UPDATE") & sf.coalesce(moved, sf.lit(col=False))


def _is_ddl() -> Column:
    return sf.coalesce("v.isDdl", sf.lit(col=False))


def _is_other_statement() -> Column:
    """Whether it is a statement that Canal could not parse, and not the text of changes whose rows come separately."""
    begin = sf.regexp_replace(sf.substring("v.sql", 1, _READ), r"^\s{0,100}/\*[^*]{0,1000}\*/", "")
    return (sf.col("v.type") == "QUERY") & ~sf.coalesce(begin.rlike(_CHANGING), sf.lit(col=True))


def _kind() -> Column:
    kind = sf.lit(None).cast("string")
    for name, op in _KINDS.items():
        kind = sf.when(sf.col("v.type") == name, op).otherwise(kind)
    return kind


def _before() -> Column:
    """The row before an update or a delete. For a plain delete, `old` is empty and the row itself is used."""
    old = sf.coalesce(_with_words(sf.get("v.old", sf.col("change.at"))), sf.create_map().cast("map<string,string>"))
    kept = sf.map_filter("data", lambda name, _: ~sf.map_contains_key(old, name))
    return sf.when(sf.col("op").isin("u", "d"), sf.to_json(sf.map_concat(kept, old)))


def _with_words(row: Column) -> Column:
    """The row with the words of ENUM and SET columns: Canal prints the binlog's numbers."""
    is_listed = "startswith(kind, 'enum(') OR startswith(kind, 'set(')"
    some = sf.expr(f"exists(map_values(kinds), kind -> {is_listed})")
    words = sf.transform_values(row, lambda name, printed: _words(sf.col("kinds")[name], printed))
    return sf.when(some, words).otherwise(row)


def _words(kind: Column, printed: Column) -> Column:
    """The word of a number in `enum('x','y')`, counted from 1, or the words in `set('x','y')`, one for each bit."""
    # Possessive quantifiers: others recurse one level deeper with each character.
    quoted = sf.regexp_extract_all(kind, sf.lit("'([^']*+(?:''[^']*+)*+)'"), sf.lit(1))
    words = sf.transform(quoted, lambda word: sf.replace(word, sf.lit("''"), sf.lit("'")))
    number = printed.try_cast("bigint")
    in_list = number.between(1, sf.size(words))
    word = sf.when(number == 0, "").otherwise(sf.get(words, sf.when(in_list, number - 1).cast("int")))
    members = sf.filter(sf.slice(words, 1, _SET_MEMBERS), lambda _, at: sf.getbit(number, at) == 1)
    text = sf.when(kind.startswith("enum("), word).when(kind.startswith("set("), sf.array_join(members, ","))
    return sf.coalesce(sf.when(number.isNotNull(), text), printed)


def _changes() -> Column:
    """The declaration of a message's table: the types of its columns, or a drop."""
    table = sf.struct(
        sf.concat_ws(".", "v.database", "v.table").alias("physical"),
        sf.col("v.mysqlType").alias("types"),
        sf.col("v.pkNames").alias("key"),
    )
    dropped = sf.struct(sf.lit("DROP").alias("type"), sf.concat_ws(".", "v.database", "v.table").alias("id"))
    return sf.when(_is_ddl() & (sf.col("v.type") == _DROP), sf.to_json(sf.array(dropped))).when(
        sf.col("op").isNotNull() & sf.col("v.mysqlType").isNotNull(), sf.to_json(table)
    )


def _problem() -> Column:
    """The fault of a message: not JSON, without a required field, or a change without rows."""
    unreadable = sf.col("v._corrupt").isNotNull() | sf.col("v.type").isNull() | sf.col("v.es").isNull()
    empty = sf.col("v.type").isin(*_KINDS) & ~_is_ddl() & sf.col("data").isNull()
    return (
        sf.when(sf.coalesce(unreadable, sf.lit(col=True)), "not a flat message of Canal")
        .when(empty, "no rows in data")
        .when(~is_event_time(sf.col("v.es")), "an es outside the range of a binlog")
    )
