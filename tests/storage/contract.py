"""The behaviour of every FileStore, whatever store is underneath. Each function gets an empty store."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.storage.file_store import FileStore

NAMES: Final = ("a.parquet", "part=x y/b.parquet", "part=%3A/c.bin", "part=ü+&=#/d", "_of=1/e", "deep/er/f", "g~*'()!")
"""As partitions of any text are named; the log and Hive's rule each encode some of it, and the store none."""
HIDDEN: Final = ("_delta_log/0.json", "_delta_log/_sidecars/s.parquet", ".a.crc", "part=x y/.b.crc")
_WRITERS: Final = 8


def keeps_what_is_put(store: FileStore) -> None:
    begun = datetime.now(UTC)
    for name in (*NAMES, *HIDDEN):
        store.put(name, name.encode())
    assert {name: store.read(name) for name in (*NAMES, *HIDDEN)} == {name: name.encode() for name in (*NAMES, *HIDDEN)}
    walked = {file.name: file for file in store.walk()}
    assert set(walked) == set(store.names()) == set(NAMES)
    told = store.stat("part=x y/b.parquet")
    assert (told.name, told.size_bytes) == ("part=x y/b.parquet", len(b"part=x y/b.parquet"))
    assert told == walked[told.name]
    assert abs(told.changed - begun) < timedelta(minutes=5)
    store.put("a.parquet", b"another")
    assert (store.read("a.parquet"), store.stat("a.parquet").size_bytes) == (b"another", 7)


def tells_what_is_in_a_folder(store: FileStore) -> None:
    for name in (*NAMES, *HIDDEN):
        store.put(name, b"x")
    assert store.names_in("_delta_log") == ["_delta_log/0.json"]
    assert store.names_in("deep") == []
    assert store.names_in("nowhere") == []
    assert [store.has_files(folder) for folder in ("", "_delta_log", "deep", "nowhere", "dee")] == [
        *(True, True, True),
        *(False, False),
    ]
    assert [store.exists(name) for name in ("deep/er/f", "deep/er", "deep/er/g")] == [True, False, False]


def is_missing_what_is_not_there(store: FileStore) -> None:
    asked: list[Callable[[], object]] = [
        lambda: store.read("none"),
        lambda: store.read_range("none", 0, 1),
        lambda: store.stat("none"),
    ]
    for ask in asked:
        with pytest.raises(FileNotFoundError):
            ask()
    assert list(store.walk()) == []
    assert not store.has_files("")
    store.delete(["none", "nowhere/none"])


def reads_ranges(store: FileStore) -> None:
    store.put("f", b"0123456789")
    asked = [store.read_range("f", start, length) for start, length in ((0, 3), (4, 2), (8, 10))]
    assert asked == [b"012", b"45", b"89"]


def is_read_by_arrow(store: FileStore) -> None:
    """By ranges: a row group of many is read without the others."""
    rows = pa.table({"id": range(50_000), "text": [f"row {number}" for number in range(50_000)]})
    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink, row_group_size=5_000)
    store.put("part=1/t.parquet", sink.getvalue().to_pybytes())
    file = pq.ParquetFile(store.arrow_source("part=1/t.parquet"), pre_buffer=False)
    assert file.read_row_group(7, columns=["id"])["id"].to_pylist() == list(range(35_000, 40_000))
    assert file.read().equals(rows)


def lets_the_first_one_write(store: FileStore) -> None:
    """Of many that put one name if absent exactly one did, and its content is there: whole, and never replaced."""
    for number in range(20):
        name = f"_delta_log/{number}.json"
        contents = [f"{writer}: ".encode() * 10_000 for writer in range(_WRITERS)]
        with ThreadPoolExecutor(_WRITERS) as pool:
            # A name a round as the default of a lambda's argument: it is called later.
            won = list(pool.map(lambda content, name=name: store.put_if_absent(name, content), contents))
        assert won.count(True) == 1
        assert store.read(name) == contents[won.index(True)]
        assert not store.put_if_absent(name, b"late")
    assert len(store.names_in("_delta_log")) == 20


def deletes(store: FileStore) -> None:
    for name in (*NAMES, *HIDDEN):
        store.put(name, b"x")
    store.delete(["a.parquet", "part=x y/b.parquet", "part=%3A/c.bin", "none"])
    assert set(store.names()) == set(NAMES[3:])
    store.delete_all()
    assert list(store.names()) == []
    assert not store.has_files("_delta_log")
    store.delete_all()


CONTRACT: Final = (
    keeps_what_is_put,
    tells_what_is_in_a_folder,
    is_missing_what_is_not_there,
    reads_ranges,
    is_read_by_arrow,
    lets_the_first_one_write,
    deletes,
)
