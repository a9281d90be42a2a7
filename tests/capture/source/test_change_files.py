"""Which landed files are due, and where a record is."""

import gzip
import os
from pathlib import Path

import pytest

from tests.capture.streams import Stream, at, order
from tidemark.capture.errors import CorruptFileError, FileNameError, MalformedLineError
from tidemark.capture.source.change_files import ChangeFile, check_file, landed_files, line_of, within
from tidemark.capture.source.expanded_size import expanded_size
from tidemark.capture.source_table import SourceTable, topic_of


@pytest.fixture
def stream(tmp_path: Path) -> Stream:
    stream = Stream("a")
    for number in range(30):
        stream.change("orders_0", None, order(number, "1.00", 23), at("2026-03-23 08:00"))
    for start in (0, 10, 20):
        stream.land(tmp_path, start, start + 10)
    return stream


@pytest.mark.parametrize(("offset", "first"), [(0, 0), (9, 0), (10, 10), (29, 20), (99, 20)])
def test_due_files_begin_with_the_one_that_may_hold_the_offset(
    stream: Stream, tmp_path: Path, offset: int, first: int
) -> None:
    assert [file.first_offset for file in landed_files(tmp_path, "a", offset)] == list(range(first, 30, 10))
    assert len(stream.lines) == 30


def test_unfinished_and_foreign_files_are_left_alone(stream: Stream, tmp_path: Path) -> None:
    (tmp_path / "a" / ".000000000030.jsonl.gz.tmp").write_text("half")
    (tmp_path / "a" / "notes.txt").write_text("mine")
    os.mkfifo(tmp_path / "a" / "000000000030.jsonl.gz")
    (tmp_path / "a" / "000000000040.jsonl.gz").symlink_to("nowhere")
    assert len(landed_files(tmp_path, "a", 0)) == 3
    assert landed_files(tmp_path, "b", 0) == []
    assert stream.instance == "a"


@pytest.mark.parametrize("name", ["00000000000000000040.jsonl.gz", "000000000040.jsonl", "000000000040.json.gz"])
def test_a_name_of_another_form_is_an_error(stream: Stream, tmp_path: Path, name: str) -> None:
    (tmp_path / "a" / name).write_bytes(b"")
    with pytest.raises(FileNameError, match="12 digits"):
        landed_files(tmp_path, stream.instance, 0)


def test_a_pass_is_bounded_but_takes_at_least_one(stream: Stream, tmp_path: Path) -> None:
    files = landed_files(tmp_path, "a", 0)
    assert within(files, 1, _bytes) == files[:1]
    assert within(files, _bytes(files[0]) + _bytes(files[1]), _bytes) == files[:2]
    assert within([], 1, _bytes) == []
    assert stream.lines


def _bytes(file: ChangeFile) -> int:
    return expanded_size(file.path).total


def test_line_of_an_offset(stream: Stream, tmp_path: Path) -> None:
    path = tmp_path / "a" / "000000000010.jsonl.gz"
    assert line_of(path, 13) == 4
    assert line_of(path, 25) == 0
    assert stream.lines


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "column"),
        ("[]", "a JSON list"),
        ('{"topic":"cdc.b","offset":1,"value":null}', r"topic 'cdc\.b' in the folder of cdc\.a"),
        ('{"topic":"cdc.a","offset":"1","value":null}', "offset '1'"),
        ('{"topic":"cdc.a","offset":1,"value":{"op":"c"}}', "no value.source.ts_ms"),
        ('{"topic":"cdc.a","offset":1,"value":{"source":{"ts_ms":-1}}}', "ts_ms -1, outside the range of a binlog"),
        ('{"topic":"cdc.a","offset":1,"value":' + "[" * 5000 + "]" * 5000 + "}", "nested too deeply"),
        ('{"topic":"cdc.a","offset":' + "9" * 5000 + "}", "a value cannot be read"),
    ],
)
def test_errors_of_a_line(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "000000000000.jsonl.gz"
    with gzip.open(path, "wt") as file:
        file.write('{"topic":"cdc.a","offset":0,"value":null}\n' + line + "\n")
    with pytest.raises(MalformedLineError, match=rf"{path}:2: this is not a change record: .*{problem}"):
        check_file(path, "cdc.a")


def test_a_cut_file_says_how_far_it_reads(stream: Stream, tmp_path: Path) -> None:
    path = tmp_path / "a" / "000000000010.jsonl.gz"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(
        CorruptFileError, match=rf"{path}: the change file is truncated or corrupt: found after line \d+"
    ):
        check_file(path, topic_of(stream.instance))


def test_a_pattern_takes_shards_only() -> None:
    table = SourceTable("ods_orders", "school.orders_*", ("a",), ("order_id",), None, ())
    assert table.holds("a", "school.orders_12")
    assert not table.holds("b", "school.orders_0")
    assert not any(table.holds("a", f"school.{name}") for name in ("orders", "orders_", "orders_old", "orders_1_bak"))
    assert not table.holds("a", "schoolXorders_1")
