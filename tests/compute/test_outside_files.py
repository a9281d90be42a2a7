"""Files of five writers: probes, rules, queries and exports have the same columns, rows and verdicts of them."""

from __future__ import annotations

import json
import math
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyarrow import csv, orc
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema

from tests.crawl.source_world import look
from tests.dependency_model.world import entity
from tests.seeds import chunks
from tidemark.compute.outside_frames import frame_of, of_arrow
from tidemark.compute.rule_measures import measure
from tidemark.crawl.errors import ProbeError
from tidemark.crawl.folders import Folder
from tidemark.crawl.outside_rows import OutsideRows
from tidemark.delta.schema_evolution import is_same
from tidemark.dependency_model.entity.quality_rules import check_names
from tidemark.olap.duckdb_store import DuckDbStore
from tidemark.spark.temporary_settings import settings
from tidemark.strict_json import float_text, json_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

DAY: Final = "2026-03-29"
FEW, MANY, CHUNK = 5, 1_000, 250
ZONES: Final = ("UTC", "Europe/Paris", "America/New_York", "Asia/Kolkata")
AT: Final = datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
VALUES: Final[dict[str, tuple[pa.DataType, list[Any]]]] = {
    "text": (
        pa.string(),
        ["", 'say "x"', "NA", "nan", "None", "00501", "2026-03-29", "a,b", "l\nm", "é", "1e5", "true", " x ", None],
    ),
    "whole": (pa.int64(), [0, -1, 9007199254740993, 2**63 - 1, None]),
    "small": (pa.int16(), [0, -1, 300, None]),
    "number": (pa.float64(), [0.0, -0.0, 1.5, 1e300, math.inf, -math.inf, math.nan, None]),
    "flag": (pa.bool_(), [True, False, None]),
    "amount": (pa.decimal128(12, 2), [Decimal("1.50"), Decimal("0.00"), Decimal("-1234567890.12"), None]),
    "day": (
        pa.date32(),
        [date(2026, 3, 29), date(1969, 12, 31), date(9999, 12, 31), date(1582, 10, 4), date(1, 1, 1), None],
    ),
    "at": (
        pa.timestamp("us", "UTC"),
        [AT, AT + timedelta(microseconds=1), AT - timedelta(days=365), AT.replace(year=1500), None],
    ),
    "wall": (pa.timestamp("us"), [datetime(2026, 3, 29, 2, 30), datetime(2026, 3, 28, 23, 59, 59, 1), None]),  # noqa: DTZ001
}
SCHEMA: Final = pa.schema([(name, kind) for name, (kind, _) in VALUES.items()])
OF_TEXTS: Final = """
- not_null: [text]
- unique: [text]
- unique: [text, whole]
- accepted_values: {column: text, values: ['00501', NA]}
- range: {column: text, min: '0', max: e}
"""
OF_VALUES: Final = """
- not_null: [number, flag]
- unique: [number]
- unique: [amount, day]
- accepted_values: {column: whole, values: [0, 9007199254740993]}
- accepted_values: {column: number, values: [0, 1.5]}
- accepted_values: {column: number, values: ['0', NaN, -Infinity]}
- accepted_values: {column: amount, values: [1.5, 0]}
- accepted_values: {column: flag, values: [true]}
- accepted_values: {column: flag, values: ['yes']}
- range: {column: whole, min: 0}
- range: {column: number, max: 2}
- range: {column: amount, min: 0.5}
- accepted_values: {column: day, values: ['2026-03-29', '9999-12-31']}
- range: {column: day, min: '1970-01-01', max: '2026-03-29'}
- freshness: {column: day, within: 1h}
"""
OF_TIMES: Final = """
- unique: [at, wall]
- accepted_values: {column: at, values: ['2026-03-29 03:30', '2026-03-29T01:30:00Z']}
- accepted_values: {column: wall, values: ['2026-03-29T02:30:00.000']}
- range: {column: at, min: '2026-03-29 00:00:00', max: '2026-03-29 03:30:00'}
- range: {column: wall, max: '2026-03-29 02:00:00'}
- freshness: {column: at, within: 1h}
- freshness: {column: wall, within: 1h}
"""


def by_pandas(_: SparkSession, folder: Path, table: pa.Table, form: str) -> None:
    frame = table.to_pandas(types_mapper=pd.ArrowDtype)
    match form:
        case "parquet":
            frame.to_parquet(folder / "a.parquet")
        case "csv":
            frame.to_csv(folder / "a.csv", index=False)
        case "json":
            frame.drop(columns="amount").to_json(folder / "a.jsonl", orient="records", lines=True, date_format="iso")
        case _:
            frame.to_orc(folder / "a.orc")


def by_pyarrow(_: SparkSession, folder: Path, table: pa.Table, form: str) -> None:
    match form:
        case "parquet":
            half = table.num_rows // 2
            pq.write_table(table.slice(0, half), folder / "a.parquet", use_dictionary=False, version="1.0")
            columns = {
                name: table[name].dictionary_encode() if name == "text" else table[name] for name in SCHEMA.names
            }
            pq.write_table(pa.table(columns).slice(half), folder / "b.parquet", use_deprecated_int96_timestamps=False)
        case "csv":
            csv.write_csv(table, folder / "a.csv")
            csv.write_csv(table.slice(0, 0).select(list(reversed(SCHEMA.names))), folder / "b.csv")
        case "json":
            rows = [
                {
                    name: value if name in ("text", "whole", "number", "flag") else str(value)
                    for name, value in row.items()
                }
                for row in table.to_pylist()
            ]
            (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        case _:
            orc.write_table(table, folder / "a.orc")


def by_duckdb(spark: SparkSession, folder: Path, table: pa.Table, form: str) -> None:
    if form == "orc":
        by_spark(spark, folder, table, form)
        return
    with duckdb.connect() as session:
        session.register("rows", table)
        session.execute(f"COPY rows TO '{folder}/a.{form}' (FORMAT {form})")


SPARK_CSV: Final = {
    "header": "true",
    "escape": '"',
    "ignoreLeadingWhiteSpace": "false",
    "ignoreTrailingWhiteSpace": "false",
}


def by_spark(spark: SparkSession, folder: Path, table: pa.Table, form: str) -> None:
    """Its TIMESTAMPs are INT96 in Parquet, and local times in ORC."""
    frame = spark.createDataFrame(table, from_arrow_schema(SCHEMA)).repartition(2)
    frame.write.format(form).mode("append").options(**SPARK_CSV).save(str(folder))
    for file in folder.glob("part-*.json"):
        file.rename(folder / f"{file.name[:10]}.jsonl")


ROW_WRITER: Final = """
import com.fasterxml.jackson.databind.*;
import java.util.Iterator;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroupFactory;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.schema.*;

public class RowWriter {
    public void write(String path, String columns, String rows) throws Exception {
        MessageType type = MessageTypeParser.parseMessageType(columns);
        SimpleGroupFactory groups = new SimpleGroupFactory(type);
        ParquetWriter writer = (ParquetWriter) ExampleParquetWriter.builder(new Path(path)).withType(type).build();
        Iterator lines = new ObjectMapper().readTree(rows).elements();
        while (lines.hasNext()) {
            JsonNode row = (JsonNode) lines.next();
            Group group = groups.newGroup();
            for (int i = 0; i < type.getFieldCount(); i++) {
                JsonNode value = (JsonNode) row.get(i);
                String kind = type.getType(i).asPrimitiveType().getPrimitiveTypeName().name();
                if (value.isNull()) continue;
                if (kind.equals("INT64")) group.add(i, value.asLong());
                else if (kind.equals("INT32")) group.add(i, value.asInt());
                else if (kind.equals("DOUBLE")) group.add(i, Double.parseDouble(value.asText()));
                else if (kind.equals("BOOLEAN")) group.add(i, value.asBoolean());
                else group.add(i, value.asText());
            }
            writer.write(group);
        }
        writer.close();
    }
}
"""
JAVA_COLUMNS: Final = """message m { optional binary text (STRING); optional int64 whole;
    optional int32 small (INTEGER(16, true)); optional double number; optional boolean flag;
    optional int64 amount (DECIMAL(12, 2)); optional int32 day (DATE);
    optional int64 at (TIMESTAMP(MICROS, true)); optional int64 wall (TIMESTAMP(MICROS, false)); }"""


@cache
def row_writer(spark: SparkSession) -> Any:
    """The compiled class: once a session, as py4j remembers the methods of a class by its name."""
    jvm = spark._jvm
    assert jvm is not None
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook(ROW_WRITER)
    return compiler.getClassLoader().loadClass("RowWriter")


def by_java(spark: SparkSession, folder: Path, table: pa.Table, form: str) -> None:
    """Parquet by a program in Java, JSON by Jackson; other forms by Spark."""
    jvm = spark._jvm
    assert jvm is not None
    if form == "json":
        mapper = jvm.com.fasterxml.jackson.databind.ObjectMapper()
        rows = table.select(["text", "whole", "small", "flag"]).to_pylist()
        lines = [mapper.writeValueAsString(jvm.java.util.LinkedHashMap(row)) for row in rows]
        (folder / "a.jsonl").write_text("\n".join(lines))
    elif form == "parquet":
        stored = [
            table[name].cast(kind) for name, kind in (("day", pa.int32()), ("at", pa.int64()), ("wall", pa.int64()))
        ]
        cents = [None if value is None else int(value * 100) for value in table["amount"].to_pylist()]
        numbers = [None if value is None else str(float_text(value)) for value in table["number"].to_pylist()]
        columns = [table[name].to_pylist() for name in ("text", "whole", "small")]
        columns += [numbers, table["flag"].to_pylist(), cents, *(column.to_pylist() for column in stored)]
        rows = json_text(list(zip(*columns, strict=True)))
        row_writer(spark).newInstance().write(str(folder / "a.parquet"), JAVA_COLUMNS, rows)
    else:
        by_spark(spark, folder, table, form)


WRITERS: Final[tuple[Callable[[Any, Path, pa.Table, str], None], ...]] = (
    *(by_pandas, by_pyarrow, by_duckdb, by_spark, by_java),
)
FORMS: Final = ("parquet", "csv", "json", "orc")


def plain(value: Any) -> Any:
    """One form of what two readers give for the same value."""
    if isinstance(value, pd.Timestamp):
        value = value.to_pydatetime()
    if isinstance(value, datetime):
        return (value.astimezone(UTC) if value.tzinfo else value).isoformat()
    return repr(value) if isinstance(value, float) else value


def plain_rows(table: pa.Table) -> list[str]:
    return sorted(str({name: plain(value) for name, value in row.items()}) for row in table.to_pylist())


def seen_by_probe(rows: OutsideRows) -> list[str]:
    if not rows.schema:
        return []
    with duckdb.connect() as session:
        session.register("outside", rows.arrow)
        return plain_rows(pa.table(session.sql("SELECT * FROM outside").to_arrow_table()))


def counted_by_spark(frame: DataFrame, rules: str, zone: str) -> list[float | None]:
    """Each rule's Spark SQL over the rows, on the clock of the entity: what breaks it, or seconds to the day's end."""
    declared = entity("outside", f"period: day\ntime_zone: {zone}\n{rules}").quality
    measures = [measure(name, rule) for name, rule in zip(check_names(declared), declared, strict=True)]
    with settings(frame.sparkSession, {"spark.sql.session.timeZone": zone}):
        row = frame.agg(*(sf.expr(made.expression).alias(made.name) for made in measures if made)).collect()[0]
        end = frame.sparkSession.sql("SELECT unix_micros(TIMESTAMP'2026-03-30 00:00:00')").collect()[0][0]
    return [
        value if not made.name.startswith("freshness") or value is None else (end - value) / 1_000_000
        for made, value in zip(filter(None, measures), row, strict=True)
    ]


def _stored_by(form: str, values: list[Any]) -> list[Any]:
    """Values that files of a format have: ORC files with older dates and times are refused."""
    return [value for value in values if form != "orc" or not isinstance(value, date) or value.year > 1677]


def near(value: float | None) -> float | None:
    """A figure. The tables of zones begin with 1970, and the ages of rows from year 1 or 9999 have no use."""
    return (
        value if value is None or abs(value) < timedelta(days=50 * 365).total_seconds() else math.copysign(1e9, value)
    )


def files_are_one_thing_to_all(spark: SparkSession, place: Path, seed: int) -> None:
    chance = Random(seed)
    count, zone = chance.randint(0 if seed % 7 == 0 else 1, 9), chance.choice(ZONES)
    writer, form = WRITERS[seed % len(WRITERS)], FORMS[seed % len(FORMS)]
    drawn = {name: chance.choices(_stored_by(form, some), k=count) for name, (_, some) in VALUES.items()}
    table = pa.table(drawn, SCHEMA)
    if form == "orc":
        # Spark's reader takes a batch of zeros for one zero, whatever their signs.
        table = table.set_column(table.column_names.index("number"), "number", pc.add(table["number"], 0.0))
    day = place / str(seed) / DAY
    day.mkdir(parents=True)
    writer(spark, day, table, form)
    case = (seed, writer.__name__, form, zone)
    folder = Folder.at(str(day))
    infos = sorted(folder.data(folder.files()), key=lambda info: str(info.path))
    rows = OutsideRows(folder, infos)
    frame = frame_of(spark.newSession(), rows, folder)
    assert is_same(frame.schema, from_arrow_schema(rows.schema)), case
    read = frame.toArrow()
    assert plain_rows(read) == seen_by_probe(rows), case
    assert rows.count() == read.num_rows == count, case
    if count:
        texts = table["text"].to_pylist()
        if (writer, form) == (by_pandas, "csv"):
            # It writes an empty text as it writes NULL.
            texts = [text or None for text in texts]
        assert sorted(map(str, read["text"].to_pylist())) == sorted(map(str, texts)), case
    if form in ("parquet", "orc") and count:
        assert plain_rows(read) == plain_rows(table.select(read.column_names).cast(read.schema)), case
    rules = OF_TEXTS + (OF_VALUES if form in ("parquet", "orc") else "")
    rules += OF_TIMES if form in ("parquet", "orc") and "at" in read.column_names else ""
    rules = rules if count else "\n- row_count: {min: 0}\n"
    sight = look(f"files: {{path: '{day.parent}/{{key}}'}}", DAY, more=f"quality:{rules}", zone=zone)
    if count:
        expected = counted_by_spark(frame, f"quality:{rules}", zone)
        assert [near(value) for _, value in sight.measured] == [near(value) for value in expected], case
    assert sight.rows in (count, None), case
    store = DuckDbStore(place / str(seed) / "olap.db")
    published = store.publish("exported", read, {"dt": date(2026, 3, 29)})
    assert published.rows == count, case
    exported = store.read("exported", {"dt": date(2026, 3, 29)}).drop_columns("dt")
    assert plain_rows(exported) == plain_rows(read), case


@pytest.mark.parametrize(
    ("first", "count"),
    [(0, FEW), *(pytest.param(first, CHUNK, marks=pytest.mark.long) for first in chunks(0, CHUNK, MANY))],
)
def test_five_writers(spark: SparkSession, tmp_path: Path, first: int, count: int) -> None:
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda seed: files_are_one_thing_to_all(spark, tmp_path, seed), range(first, first + count)))


def test_odd_files(spark: SparkSession, tmp_path: Path) -> None:
    """Times in nanoseconds, unsigned numbers, columns in another order or type, names that are patterns, mixed JSON."""
    nanos, types, texts, mixed = places = [tmp_path / name for name in ("nanos", "types", "texts", "mixed")]
    for place in places:
        place.mkdir()
    at = pa.array([datetime(2026, 3, 29, 1)], pa.timestamp("ns"))  # noqa: DTZ001 - a wall clock
    pq.write_table(pa.table({"at": at, "n": pa.array([1], pa.uint64())}), nanos / "a[1].parquet")
    pq.write_table(pa.table({"n": [2.5], "at": pa.nulls(1)}), nanos / "b{2}.parquet")
    pq.write_table(pa.table({"n": pa.array([1], pa.int32()), "x": [["a"]]}), types / "a[1].parquet")
    pq.write_table(pa.table({"x": pa.nulls(1), "n": [2**40]}), types / "b*.parquet")
    (texts / "a.csv").write_text('a,b\n"",\n"say ""x""",2\n')
    (texts / "b.csv").write_text("b,c\n3,4\n")
    (mixed / "a.jsonl").write_text('{"a": 1.10, "_corrupt_record": "x"}\n{"a": "t"}\n{"a": {"b":1e5}}\n{"a": -0}\n')
    for place in places:
        folder = Folder.at(str(place))
        rows = OutsideRows(folder, folder.data(folder.files()))
        assert plain_rows(frame_of(spark, rows, folder).toArrow()) == seen_by_probe(rows), place


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([{"t": pa.array([time(12)])}], "does not read.*t time64"),
        ([{"t": pa.array([[1.5]], pa.list_(pa.float16()))}], "does not read.*halffloat"),
        ([{"t": pa.array([Decimal(1)], pa.decimal256(50, 2))}], "does not read.*decimal256"),
        ([{"t": [1]}, {"t": ["a"]}], "do not fit together.*Field t has incompatible types"),
    ],
)
def test_types_that_spark_lacks_are_refused_with_their_columns(
    spark: SparkSession, tmp_path: Path, columns: list[dict[str, Any]], message: str
) -> None:
    for number, some in enumerate(columns):
        pq.write_table(pa.table(some), tmp_path / f"{number}.parquet")
    folder = Folder.at(str(tmp_path))
    with pytest.raises(ProbeError, match=message):
        frame_of(spark, OutsideRows(folder, folder.files()), folder)


@contextmanager
def clock_of(spark: SparkSession, zone: str) -> Iterator[None]:
    """Java's own zone, whose clock ORC uses."""
    jvm = spark._jvm
    assert jvm is not None
    zones = jvm.java.util.TimeZone
    before = zones.getDefault()
    zones.setDefault(zones.getTimeZone(zone))
    try:
        yield
    finally:
        zones.setDefault(before)


def read_by_both(spark: SparkSession, place: Path) -> list[dict[str, Any]]:
    """The rows of a folder as a query has them, which are those of a probe."""
    folder = Folder.at(str(place))
    rows = OutsideRows(folder, sorted(folder.data(folder.files()), key=lambda info: str(info.path)))
    read = frame_of(spark, rows, folder).toArrow()
    assert plain_rows(read) == seen_by_probe(rows)
    assert rows.count() == read.num_rows
    return [{name: plain(value) for name, value in row.items()} for row in read.to_pylist()]


def test_instants_of_orc_are_read_by_the_clock_of_their_writer(spark: SparkSession, tmp_path: Path) -> None:
    query = "SELECT {} id, TIMESTAMP'2026-03-29 01:30:00Z' at, array(TIMESTAMP_NTZ'2026-03-29 02:30:00') wall"
    for number, zone in enumerate(("UTC", "Europe/Paris", "Asia/Shanghai")):
        with clock_of(spark, zone):
            spark.sql(query.format(number)).coalesce(1).write.mode("append").orc(str(tmp_path))
    rows = read_by_both(spark, tmp_path)
    assert {row["at"] for row in rows} == {"2026-03-29T01:30:00+00:00"}
    assert {str(row["wall"]) for row in rows} == {str([datetime(2026, 3, 29, 2, 30)])}  # noqa: DTZ001


@pytest.mark.parametrize(
    ("zone", "query", "message"),
    [
        ("UTC", "array(DATE'1582-10-04') v", "dates before 1582-10-15"),
        ("Europe/Paris", "array(TIMESTAMP'2026-03-29 01:30:00Z') v", "inside other types"),
        ("Europe/Paris", "TIMESTAMP'2026-10-25 00:30:00Z' v", "could not be read"),
    ],
)
def test_orc_files_with_two_meanings_are_refused(
    spark: SparkSession, tmp_path: Path, zone: str, query: str, message: str
) -> None:
    with clock_of(spark, zone):
        spark.sql(f"SELECT {query}").coalesce(1).write.mode("append").orc(str(tmp_path))
    with pytest.raises(ProbeError, match=message):
        read_by_both(spark, tmp_path)


@pytest.mark.parametrize("compression", ["uncompressed", "zlib", "snappy", "zstd", "lz4"])
@pytest.mark.parametrize("day", [date(1582, 10, 15), date(1582, 10, 14)])
def test_old_dates_of_orc_are_found_in_its_footer(tmp_path: Path, compression: str, day: date) -> None:
    columns = {f"column {number}": pa.array([{"days": [day]}] * 9) for number in range(300)}
    orc.write_table(pa.table(columns), tmp_path / "a.orc", compression=compression)
    folder = Folder.at(str(tmp_path))
    rows = OutsideRows(folder, folder.files())
    if day.day == 15 and compression != "lz4":
        assert rows.count() == 9
    else:
        with pytest.raises(ProbeError, match="compression" if compression == "lz4" else "two calendars"):
            rows.count()


def test_a_time_without_a_zone_has_none_on_any_clock(spark: SparkSession) -> None:
    """Not even one that the clock skips."""
    skipped = datetime(2026, 3, 29, 2, 30)  # noqa: DTZ001 - a wall clock
    with settings(spark, {"spark.sql.session.timeZone": "Europe/Paris"}):
        rows = of_arrow(spark, pa.table({"wall": pa.array([skipped], pa.timestamp("us"))}))
        assert rows.dtypes == [("wall", "timestamp_ntz")]
        assert [row.wall for row in rows.collect()] == [skipped]


def test_a_file_that_cannot_be_read_is_named(spark: SparkSession, tmp_path: Path) -> None:
    pq.write_table(pa.table({"n": [1]}), tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 no footer PAR1")
    folder = Folder.at(str(tmp_path))
    with pytest.raises(ProbeError, match=r"b\.parquet: "):
        frame_of(spark, OutsideRows(folder, folder.files()), folder)
