"""Files as others write them: what probes and rules see of them is what is written there, and nothing is guessed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake
from pyarrow import csv, orc

from tests.crawl.source_world import look
from tests.dependency_model.world import entity
from tidemark.center.detectors.slice_rules import judge
from tidemark.crawl.errors import ProbeError
from tidemark.crawl.folders import Folder
from tidemark.crawl.outside_rows import OutsideRows

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DAY: Final = "2026-03-29"
TABLES: Final = 30
MANY: Final = 1_000


def verdicts(probe: str, rules: str) -> dict[str, tuple[bool, str]]:
    quality = f"quality:\n{rules}"
    declared = entity("outside", f"kind: Virtual\nperiod: day\ntime_zone: UTC\nprobe:\n  {probe}\n{quality}")
    sight = look(probe, DAY, more=quality)
    return {verdict.name: (verdict.passed, verdict.reason) for verdict in judge(declared, sight)}


def broken(folder: Path, rules: str) -> dict[str, str]:
    told = verdicts(f"files: {{path: '{folder}/{{key}}'}}", rules)
    return {name: reason for name, (holds, reason) in told.items() if not holds}


@pytest.fixture
def day(tmp_path: Path) -> Path:
    folder = tmp_path / DAY
    folder.mkdir()
    return folder


def rows_of(folder: Path) -> list[dict[str, Any]]:
    opened = Folder.at(str(folder))
    rows = OutsideRows(opened, sorted(opened.data(opened.files()), key=lambda info: str(info.path)))
    with duckdb.connect() as session:
        session.register("outside", rows.arrow)
        read = pa.table(session.sql("SELECT * FROM outside").to_arrow_table())
    assert rows.count() == read.num_rows
    return [dict(row) for row in read.to_pylist()]


def test_no_word_of_a_csv_file_is_null(day: Path) -> None:
    (day / "a.csv").write_text('country,name\nNA,nan\nNULL,\n"",null\n')
    assert rows_of(day) == [
        {"country": "NA", "name": "nan"},
        {"country": "NULL", "name": None},
        {"country": "", "name": "null"},
    ]


def test_a_csv_file_has_texts(day: Path) -> None:
    (day / "a.csv").write_text('zip,id,at,note\n00501,12345678901234567890,2026-03-29,"a\nb"\n')
    assert rows_of(day) == [{"zip": "00501", "id": "12345678901234567890", "at": "2026-03-29", "note": "a\nb"}]


def test_numbers_and_times_are_read_from_texts_where_a_rule_is_about_them(day: Path) -> None:
    (day / "a.csv").write_text("zip,amount,at\n00501,9.5,2026-03-29 23:30:00\n01001,10,2026-03-29T12:00:00Z\n")
    rules = """
- accepted_values: {column: zip, values: ['00501', '01001']}
- accepted_values: {column: amount, values: [9.50, 10]}
- range: {column: amount, min: 9, max: 10}
- freshness: {column: at, within: 45m}
"""
    assert broken(day.parent, rules) == {}
    assert list(
        broken(day.parent, "- freshness: {column: at, within: 15m}\n- range: {column: amount, max: 9.7}\n")
    ) == [
        "freshness",
        "range",
    ]


@pytest.mark.parametrize(
    ("name", "content"), [("a.csv", "id\n1\n"), ("a.jsonl", '{"id": 1}\n'), ("a.json", '{"id": 1}')]
)
def test_a_file_without_a_byte_has_no_rows(day: Path, name: str, content: str) -> None:
    (day / name).write_text(content)
    (day / f"0{name}").write_text("")
    assert broken(day.parent, "- row_count: {min: 1, max: 1}\n- not_null: [id]\n") == {}


def test_a_slice_of_empty_files_has_no_rows(day: Path) -> None:
    (day / "a.csv").write_text("")
    assert list(broken(day.parent, "- row_count: {min: 1}\n- not_null: [id]\n")) == ["row_count"]


def test_json_has_the_types_of_its_values_in_all_lines(day: Path) -> None:
    lines = [
        {"day": "2026-03-29", "n": 1, "big": 12345678901234567890, "some": 1, "deep": {"x": 1}},
        {"day": "2026-03-30", "n": 2.0, "big": 1, "some": "a", "deep": {"y": ["2026-03-29"]}, "later": True},
    ]
    (day / "a.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    assert rows_of(day) == [
        {"day": "2026-03-29", "n": 1.0, "big": 12345678901234567890, "some": "1", "deep": {"x": 1, "y": None}}
        | {"later": None},
        {"day": "2026-03-30", "n": 2.0, "big": 1, "some": "a", "deep": {"x": None, "y": ["2026-03-29"]}, "later": True},
    ]
    rules = "- accepted_values: {column: n, values: [1, 2]}\n- unique: [big, day]\n"
    assert broken(day.parent, rules) == {}


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.jsonl", '{"id": 1}\n{"id": \n', r"a\.jsonl:2"),
        ("a.jsonl", '{"id": 1}\n[1]\n', r"a\.jsonl:2"),
        ("a.csv", "id,x\n1,2\n1,2,3\n", "row #3"),
        ("a.csv", 'id,x\n1,2\n"1"x,2\n', r"a\.csv:3: a line is not CSV"),
        ("a.csv", 'id,x\n1,"say \\"x\\""\n', r"a\.csv:2: a line is not CSV"),
        ("a.csv", 'id,x\n"1",2\n"3",', r"a\.csv:3: the last line has no line end"),
        ("a.csv", "id,ID\n1,2\n", "share a name"),
        ("a.jsonl", '{"id": 1, "Id": 2}\n', "share a name"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(day: Path, name: str, content: str, words: str) -> None:
    (day / name).write_text(content)
    with pytest.raises(ProbeError, match=words):
        look(f"files: {{path: '{day.parent}/{{key}}'}}", DAY, more="quality: [{not_null: [id]}]\n")


def test_the_zone_of_an_instant_is_a_note_of_its_writer(day: Path) -> None:
    for number, (unit, zone) in enumerate([("us", "UTC"), ("ms", "Europe/Paris"), ("us", "+08:00")]):
        at = pa.array([datetime(2026, 3, 29, 1, tzinfo=UTC)], pa.timestamp(unit, zone))
        pq.write_table(pa.table({"at": at, "all": [[1]]}), day / f"{number}.parquet")
    assert broken(day.parent, "- accepted_values: {column: at, values: ['2026-03-29T01:00:00Z']}\n") == {}


def test_a_dictionary_is_a_note_of_its_writer(day: Path) -> None:
    pd.DataFrame({"x": pd.Categorical(["a", "b"])}).to_parquet(day / "a.parquet")
    pq.write_table(pa.table({"x": pa.array(["a", "b"], pa.large_string())}), day / "b.parquet")
    rules = "- row_count: {min: 4, max: 4}\n- accepted_values: {column: x, values: [a, b]}\n"
    assert broken(day.parent, rules) == {}


def test_a_watermark_without_statistics_is_read(tmp_path: Path) -> None:
    columns = {f"c{number}": [1] for number in range(40)}
    at = pa.array(["2026-03-30T01:00:00"]).cast(pa.timestamp("us"))
    write_deltalake(str(tmp_path / "t"), pa.table({"day": [DAY], **columns, "at": at}), partition_by=["day"])
    probe = f"delta: {{table: '{tmp_path}/t', partition: {{day: '{{key}}'}}, watermark: at}}"
    assert look(probe, DAY).is_there
    assert not look(probe, "2026-03-30").is_there


def test_partitions_are_found_by_their_values_in_the_log(tmp_path: Path) -> None:
    rows = {"day": [DAY] * 2, "region": pa.array([None, "None"], pa.string()), "paid": [True, False], "id": [1, 2]}
    write_deltalake(str(tmp_path / "t"), pa.table(rows), partition_by=["day", "region", "paid"])

    def seen(region: str, paid: str) -> bool:
        partition = f"{{day: '{{key}}', region: {region}, paid: '{paid}'}}"
        return look(f"delta: {{table: '{tmp_path}/t', partition: {partition}}}", DAY).is_there

    assert [seen("None", "true"), seen("None", "FALSE"), seen("'null'", "true")] == [False, True, False]


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (Decimal("1.50"), pa.decimal128(9, 2), "1.5"),
        (1.0, pa.float64(), "1"),
        (float("nan"), pa.float64(), "NaN"),
        (datetime(2026, 3, 29, 1, 30), pa.timestamp("us"), "2026-03-29T01:30:00"),  # noqa: DTZ001 - a wall clock
    ],
)
def test_partitions_of_numbers_and_times_are_found_by_value(tmp_path: Path, value: Any, kind: Any, text: str) -> None:
    rows = {"day": [DAY], "part": pa.array([value], kind), "id": [1]}
    write_deltalake(str(tmp_path / "t"), pa.table(rows), partition_by=["day", "part"])

    def seen(part: str) -> bool:
        return look(f"delta: {{table: '{tmp_path}/t', partition: {{day: '{{key}}', part: '{part}'}}}}", DAY).is_there

    assert [seen(text), seen("7"), seen("x")] == [True, False, False]


VALUES: Final[dict[str, list[Any]]] = {
    "text": ["NA", "nan", "None", "", "00501", "2026-03-29", "a,b", 'say "x"', "l\nm", "é", "1e5", "true", None],
    "whole": [0, -1, 9007199254740993, 2**63 - 1, None],
    "number": [0.0, -0.0, 1.5, 1e300, float("inf"), float("nan"), None],
    "flag": [True, False, None],
}
TYPES: Final = {"text": pa.string(), "whole": pa.int64(), "number": pa.float64(), "flag": pa.bool_()}
RULES: Final = """
- not_null: [text]
- not_null: [number]
- unique: [text, whole]
- unique: [number]
- accepted_values: {column: text, values: ['00501', NA]}
- accepted_values: {column: whole, values: [0, 9007199254740993]}
- accepted_values: {column: number, values: [0, 1.5]}
- range: {column: whole, min: 0}
- range: {column: number, max: 2}
"""


def by_pandas(folder: Path, table: pa.Table) -> None:
    table.to_pandas(types_mapper=pd.ArrowDtype).to_parquet(folder / "a.parquet")


def by_pyarrow(folder: Path, table: pa.Table) -> None:
    pq.write_table(table, folder / "a.parquet", use_dictionary=False, version="1.0")


def by_orc(folder: Path, table: pa.Table) -> None:
    orc.write_table(table, folder / "a.orc")


def by_duckdb(folder: Path, table: pa.Table) -> None:
    with duckdb.connect() as session:
        session.register("rows", table)
        session.execute(f"COPY rows TO '{folder}/a.parquet' (FORMAT parquet)")


def by_json_lines(folder: Path, table: pa.Table) -> None:
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))


def by_csv(folder: Path, table: pa.Table) -> None:
    csv.write_csv(table, folder / "a.csv")


WRITERS: Final[tuple[Callable[[Path, pa.Table], None], ...]] = (
    *(by_pandas, by_pyarrow, by_orc, by_duckdb, by_json_lines, by_csv),
)


def expected(table: pa.Table, *, are_texts: bool) -> list[int]:
    """What breaks each rule, counted by hand: NaN is a number above all others and equal to itself, as for Spark.

    Of texts, -0 and 0 are two.
    """
    rows = table.to_pylist()
    numbers = [row["number"] for row in rows]
    known = ["nan" if number != number else number for number in numbers]  # noqa: PLR0124 - NaN
    whole = [row["whole"] for row in rows if row["whole"] is not None]
    return [
        sum(row["text"] is None for row in rows),
        sum(number is None for number in numbers),
        len(rows) - len({(row["text"], row["whole"]) for row in rows}),
        len(rows) - len({repr(number) for number in numbers} if are_texts else set(known)),
        sum(row["text"] not in (None, "00501", "NA") for row in rows),
        sum(value not in (0, 9007199254740993) for value in whole),
        sum(value not in (None, 0, 1.5) for value in known),
        sum(value < 0 for value in whole),
        sum(not number <= 2 for number in numbers if number is not None),
    ]


@pytest.mark.parametrize("tables", [TABLES, pytest.param(MANY, marks=pytest.mark.long)])
def test_every_writer_says_the_same_of_random_rows(tmp_path: Path, tables: int) -> None:
    for seed in range(tables):
        chance, rules = Random(seed), f"quality:\n{RULES}"
        count = chance.randint(1, 12)
        table = pa.table({name: pa.array(chance.choices(some, k=count), TYPES[name]) for name, some in VALUES.items()})
        folder = tmp_path / str(seed) / DAY
        folder.mkdir(parents=True)
        writer = WRITERS[seed % len(WRITERS)]
        writer(folder, table)
        sight = look(f"files: {{path: '{folder.parent}/{{key}}'}}", DAY, more=rules)
        counted = [int(count or 0) for _, count in sight.measured]
        assert counted == expected(table, are_texts=writer is by_csv), (seed, writer.__name__)
        assert sight.rows == count


@pytest.mark.parametrize("zone", ["Asia/Kolkata", "America/New_York"])
@pytest.mark.parametrize("end", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
def test_times_at_the_ends_of_the_calendar_are_newest_values(day: Path, zone: str, end: datetime) -> None:
    columns = {"wall": pa.array([end.replace(tzinfo=None)]), "at": pa.array([end]), "on": pa.array([end.date()])}
    pq.write_table(pa.table(columns), day / "a.parquet")
    rules = "".join(f"- freshness: {{column: {name}, within: 1h}}\n" for name in columns)
    sight = look(f"files: {{path: '{day.parent}/{{key}}'}}", DAY, more=f"quality:\n{rules}", zone=zone)
    assert [value is not None and value < 0 for _, value in sight.measured] == [end.year == 9999] * 3
