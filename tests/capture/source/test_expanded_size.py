"""What a gzip file expands to is known before anybody reads it."""

from __future__ import annotations

import gzip
import zlib
from typing import TYPE_CHECKING

import psutil
import pytest

from tidemark.capture.errors import FileTooBigError
from tidemark.capture.source.expanded_size import MAX_LINE_BYTES, expanded_size
from tidemark.capture.source.file_intake import FileIntake

if TYPE_CHECKING:
    from pathlib import Path


def bomb(path: Path, total: int, *, line: bytes = b"") -> Path:
    """A gzip file of `total` blanks, after every million of which `line` comes."""
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for _ in range(total // 1_000_000):
            file.write(packer.compress(b" " * 1_000_000 + line))
        file.write(packer.flush())
    return path


@pytest.mark.parametrize("lines", [[b""], [b"\n"], [b"ab\n", b"c\n"], [b"x" * 3_000_000 + b"\n", b"yy"]])
def test_sizes_are_counted_over_members_and_chunks(tmp_path: Path, lines: list[bytes]) -> None:
    path = tmp_path / "f.gz"
    path.write_bytes(b"".join(gzip.compress(line) for line in lines))
    text = b"".join(lines)
    assert expanded_size(path) == (len(text), max(len(line) for line in text.split(b"\n")))


def test_a_fault_ends_it_without_an_error(tmp_path: Path) -> None:
    path = tmp_path / "f.gz"
    path.write_bytes(gzip.compress(b"some text\n" * 1000)[:-12])
    assert 0 < expanded_size(path).total <= 10_000
    path.write_bytes(b"no gzip")
    assert expanded_size(path) == (0, 0)
    assert expanded_size(tmp_path / "none.gz") == (0, 0)


def test_it_stops_at_a_line_that_is_too_long(tmp_path: Path) -> None:
    size = expanded_size(bomb(tmp_path / "f.gz", MAX_LINE_BYTES * 4))
    assert MAX_LINE_BYTES < size.longest_line < MAX_LINE_BYTES + 3_000_000
    assert size.total == size.longest_line
    assert size.excess


def test_it_stops_at_the_limit_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidemark.capture.source.expanded_size.MAX_FILE_BYTES", 9_000_000)
    size = expanded_size(bomb(tmp_path / "f.gz", 30_000_000, line=b"\n"))
    assert 9_000_000 < size.total < 12_000_000
    assert size.excess == ("at most 9,000,000 expanded bytes", f"{size.total:,} or more")


def test_a_file_that_is_too_big_is_named_before_spark_sees_it(tmp_path: Path) -> None:
    path = bomb(tmp_path / "a" / "000000000000.jsonl.gz", MAX_LINE_BYTES * 2)
    intake = FileIntake(tmp_path)
    due = intake.due({"a": 0}, {}, 1)
    with pytest.raises(
        FileTooBigError, match=rf"{path}: the change file is too big when expanded.*found a line of"
    ) as caught:
        intake.scan(None, due, (), {"a": 0})  # type: ignore[arg-type]  # Spark is not asked
    assert caught.value.path == path


@pytest.mark.slow
def test_members_that_expand_to_nothing_take_no_time_either(tmp_path: Path) -> None:
    """A million in twenty megabytes: what is left of the file was copied once for each of them."""
    path = tmp_path / "f.gz"
    path.write_bytes(gzip.compress(b"") * 1_000_000 + gzip.compress(b"line\n"))
    assert expanded_size(path) == (5, 4)


@pytest.mark.long
@pytest.mark.parametrize(("line", "said"), [(b"", "found a line of"), (b"\n", "at most 2,000,000,000 expanded bytes")])
def test_two_gigabytes_at_real_size(tmp_path: Path, line: bytes, said: str) -> None:
    path = bomb(tmp_path / "a" / "000000000000.jsonl.gz", 2_100_000_000, line=line)
    assert path.stat().st_size < 5_000_000
    intake = FileIntake(tmp_path)
    before = psutil.Process().memory_info().rss
    with pytest.raises(FileTooBigError, match=rf"{path}: .*{said}"):
        intake.scan(None, intake.due({"a": 0}, {}, 1), (), {"a": 0})  # type: ignore[arg-type]  # Spark is not asked
    assert psutil.Process().memory_info().rss - before < 200_000_000
