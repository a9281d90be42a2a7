"""Rules of external slices, counted by SQLite and by DuckDB over a Delta table that another program wrote."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.crawl.probed_rules import DAY, EXPECTED, ROWS, RULES, verdicts
from tests.crawl.source_world import look
from tests.dependency_model.world import entity
from tidemark.center.detectors.slice_rules import judge
from tidemark.crawl.errors import ProbeError
from tidemark.dependency_model.arrival.sighting import Sight

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = ("day", "id", "shop", "amount", "status", "at")


def sqlite_file(folder: Path, rows: Any) -> str:
    file = folder / "shop.db"
    file.unlink(missing_ok=True)
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("CREATE TABLE orders (day TEXT, id INT, shop TEXT, amount INT, status TEXT, at TEXT)")
        database.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?)", rows)
    return f"sqlite:///{file}"


def delta_table(folder: Path, rows: Any) -> str:
    columns = {name: [row[number] for row in rows] for number, name in enumerate(COLUMNS)}
    columns["at"] = [datetime.fromisoformat(f"{at}+00:00") for at in columns["at"]]
    write_deltalake(str(folder / "orders"), pa.table(columns), partition_by=["day"])
    return str(folder / "orders")


def test_sqlite_counts_the_rows_that_break_each_rule(tmp_path: Path) -> None:
    probe = f"sql: {{url: '{sqlite_file(tmp_path, ROWS)}', table: orders, partition: {{day: '{{key}}'}}}}"
    assert verdicts(probe, look(probe, DAY, more=RULES)) == EXPECTED


def test_duckdb_counts_them_in_a_delta_table(tmp_path: Path) -> None:
    probe = f"delta: {{table: '{delta_table(tmp_path, ROWS)}', partition: {{day: '{{key}}'}}}}"
    assert verdicts(probe, look(probe, DAY, more=RULES)) == EXPECTED


def written_files(folder: Path, form: str, rows: Any) -> None:
    """The days in folders as Hive names them, each in two files of one form."""
    for day in {row[0] for row in rows}:
        target = folder / f"day={day}"
        target.mkdir(parents=True)
        mine = [row[1:] for row in rows if row[0] == day]
        for number, part in enumerate(filter(None, (mine[:2], mine[2:]))):
            values = {name: [row[at] for row in part] for at, name in enumerate(COLUMNS[1:])}
            columns = {**values, "at": [datetime.fromisoformat(f"{at}+00:00") for at in values["at"]]}
            types = pa.schema([("id", pa.int64()), ("shop", pa.string()), ("amount", pa.int64())])
            types = types.append(pa.field("status", pa.string())).append(pa.field("at", pa.timestamp("us", "UTC")))
            with duckdb.connect() as session:
                session.register("part", pa.table(columns, schema=types))
                session.execute(f"COPY part TO '{target}/{number}.{form}' (FORMAT {form})")


@pytest.mark.parametrize("form", ["parquet", "csv", "json"])
def test_duckdb_counts_them_in_files_that_another_program_wrote(tmp_path: Path, form: str) -> None:
    written_files(tmp_path, form, ROWS)
    files = f"files: {{path: '{tmp_path}/day={{key}}'}}"
    assert verdicts(files, look(files, DAY, more=RULES)) == EXPECTED
    partitions = f"partitions: {{path: '{tmp_path}', partition: {{day: '{{key}}'}}}}"
    assert verdicts(partitions, look(partitions, DAY, more=RULES)) == EXPECTED


def test_files_of_unknown_format_or_cut_off_files_are_errors(tmp_path: Path) -> None:
    written_files(tmp_path, "parquet", ROWS)
    probe, more = f"files: {{path: '{tmp_path}/day={{key}}'}}", "quality: [{not_null: [id]}]\n"
    assert dict(look(probe, DAY, more=more).measured) == {"not_null": 0}
    (tmp_path / f"day={DAY}" / "0.csv").write_text("id\n1\n")
    with pytest.raises(ProbeError, match=r"one form.*found 0\.csv"):
        look(probe, DAY, more=more)
    (tmp_path / f"day={DAY}" / "0.csv").unlink()
    whole = (tmp_path / f"day={DAY}" / "1.parquet").read_bytes()
    (tmp_path / f"day={DAY}" / "1.parquet").write_bytes(whole[:-20])
    with pytest.raises(ProbeError, match="cannot be read yet"):
        look(probe, DAY, more=more)


def test_times_of_all_years_in_files_of_spark(tmp_path: Path) -> None:
    ends = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
    times = pa.array(ends, pa.timestamp("us", "UTC"))
    (tmp_path / DAY).mkdir()
    pq.write_table(pa.table({"at": times}), tmp_path / DAY / "0.parquet", use_deprecated_int96_timestamps=True)
    rules = "quality: [{range: {column: at, min: '0001-01-01 00:00:00', max: '9999-12-31 00:00:00'}}]\n"
    assert dict(look(f"files: {{path: '{tmp_path}/{{key}}'}}", DAY, more=rules).measured) == {"range": 1}


def test_a_column_that_only_a_later_file_has_is_counted(tmp_path: Path) -> None:
    (tmp_path / DAY).mkdir()
    for number, columns in enumerate(({"id": [1]}, {"id": [2], "shop": ["a"]})):
        pq.write_table(pa.table(columns), tmp_path / DAY / f"{number}.parquet")
    sight = look(f"files: {{path: '{tmp_path}/{{key}}'}}", DAY, more="quality: [{not_null: [shop]}]\n")
    assert dict(sight.measured) == {"not_null": 1}


def test_a_missing_column_is_an_error_and_the_slice_is_not_ready(tmp_path: Path) -> None:
    more = "quality: [{not_null: [nowhere]}]\n"
    for probe in (
        f"sql: {{url: '{sqlite_file(tmp_path, ROWS)}', table: orders, partition: {{day: '{{key}}'}}}}",
        f"delta: {{table: '{delta_table(tmp_path, ROWS)}', partition: {{day: '{{key}}'}}}}",
    ):
        with pytest.raises(ProbeError, match="nowhere"):
            look(probe, DAY, more=more)


def test_an_uncounted_rule_never_holds() -> None:
    text = "kind: Virtual\nperiod: day\nprobe:\n  sql: {url: '${DB}', table: t, time_column: at}\n" + RULES
    told = judge(entity("outside", text), Sight(is_there=True, why="", rows=5))
    assert [verdict.name for verdict in told if verdict.passed] == ["row_count"]


def test_rows_that_change_without_their_number_are_another_content(tmp_path: Path) -> None:
    probe = f"sql: {{url: '{sqlite_file(tmp_path, ROWS)}', table: orders, partition: {{day: '{{key}}'}}}}"
    before = look(probe, DAY, more=RULES)
    sqlite_file(tmp_path, [(*row[:3], 7, *row[4:]) for row in ROWS])
    assert look(probe, DAY, more=RULES).measured != before.measured


CELLS = st.one_of(st.none(), st.integers(-3, 3))
TEXTS = st.one_of(st.none(), st.sampled_from(["a", "A", "a ", "o'x", "%s", ":b", ""]))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(CELLS, TEXTS), min_size=1, max_size=12),
    st.lists(TEXTS.filter(bool), min_size=1, max_size=3),
    st.integers(-3, 3),
)
def test_counts_are_those_of_a_loop(
    tmp_path_factory: pytest.TempPathFactory, cells: list[tuple[int | None, str | None]], accepted: list[str], low: int
) -> None:
    """Against Python's own count, with texts in which drivers and collations could see something else."""
    folder = tmp_path_factory.mktemp("rules")
    rows = [(DAY, number, text, None, None, "2026-03-29 10:00:00") for number, text in cells]
    rules: list[dict[str, object]] = [
        {"not_null": ["id", "shop"]},
        {"unique": ["id", "shop"]},
        {"accepted_values": {"column": "shop", "values": accepted}},
        {"range": {"column": "id", "min": low}},
    ]
    expected = {
        "not_null": sum(None in cell for cell in cells),
        "unique": len(cells) - len(set(cells)),
        "accepted_values": sum(text is not None and text not in accepted for _, text in cells),
        "range": sum(number is not None and number < low for number, _ in cells),
    }
    more = f"quality: {json.dumps(rules)}\n"
    for probe in (
        f"sql: {{url: '{sqlite_file(folder, rows)}', table: orders, partition: {{day: '{{key}}'}}}}",
        f"delta: {{table: '{delta_table(folder, rows)}', partition: {{day: '{{key}}'}}}}",
    ):
        assert dict(look(probe, DAY, more=more).measured) == expected
