"""File statistics against the rows themselves: a file that is left out holds none of the keys."""

import json
from datetime import date
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from hypothesis import given
from hypothesis import strategies as st

from tests.lake_folder import lake_folder
from tidemark.delta.errors import NotADeltaTableError
from tidemark.delta.file_statistics import FileStatistics, file_statistics, possible_keys
from tidemark.delta.open_table import delta_rs_options
from tidemark.system.table_location import TableLocation

Key = tuple[int, str]
keys = st.lists(st.tuples(st.integers(0, 40), st.sampled_from("abcd")), min_size=1, max_size=6, unique=True)
files = st.lists(st.tuples(st.sampled_from(["x", "y", None]), keys), max_size=6)


def statistics_of(content: list[tuple[str | None, list[Key]]], *, forgotten: int | None = None) -> FileStatistics:
    """As the log would have it; the bounds of file `forgotten` are missing."""
    rows: list[dict[str, Any]] = []
    for number, (partition, held) in enumerate(content):
        known = number != forgotten
        bounds = {f"{end.__name__}.{name}": end(key[at] for key in held) if known else None
                  for at, name in enumerate(("id", "shard")) for end in (min, max)}  # fmt: skip
        rows.append({"path": f"f{number}", "size_bytes": 1, "num_records": len(held), "partition": partition, **bounds})
    schema = pa.schema(
        [("path", pa.string()), ("size_bytes", pa.int64()), ("num_records", pa.int64()), ("partition", pa.string())]
        + [
            (f"{end}.{name}", kind)
            for name, kind in (("id", pa.int64()), ("shard", pa.string()))
            for end in ("min", "max")
        ]
    )
    return FileStatistics(0, {}, ("part",), {}, frozenset(), frozenset(), pa.Table.from_pylist(rows, schema=schema))


@given(files, keys, st.one_of(st.none(), st.sets(st.sampled_from(["x", "y", None]))), st.integers(0, 5))
def test_no_file_with_a_key_is_left_out(
    content: list[tuple[str | None, list[Key]]], batch: list[Key], partitions: set[str | None] | None, forgotten: int
) -> None:
    table = pa.table({"id": pa.array([k[0] for k in batch], pa.int64()), "shard": [k[1] for k in batch]})
    candidates = possible_keys(statistics_of(content, forgotten=forgotten), table, partitions)
    for number, (partition, held) in enumerate(content):
        if partitions is not None and partition not in partitions:
            assert f"f{number}" not in candidates
        else:
            assert candidates.get(f"f{number}", 0) >= len(set(held) & set(batch))


def test_files_whose_bounds_exclude_every_key_are_left_out() -> None:
    content: list[tuple[str | None, list[Key]]] = [("x", [(1, "a"), (9, "a")]), ("x", [(10, "a"), (19, "a")])]
    table = pa.table({"id": pa.array([5, 6, 30], pa.int64()), "shard": ["a", "a", "a"]})
    assert possible_keys(statistics_of(content), table) == {"f0": 2}


def test_statistics_of_the_log(lake: TableLocation) -> None:
    rows = pa.table({"id": [1, 2, 3], "dt": [date(2026, 3, 23), date(2026, 3, 23), None]})
    write_deltalake(str(lake), rows, storage_options=delta_rs_options(lake), partition_by=["dt"])
    statistics = file_statistics(lake)
    assert (statistics.version, statistics.columns, statistics.partition_columns) == (0, ("id", "dt"), ("dt",))
    assert sorted(map(str, statistics.partition_of().values())) == ["2026-03-23", "None"]
    assert sorted(rows for _, rows in statistics.size_of().values()) == [1, 2]


def test_files_are_listed_as_in_the_log(lake: TableLocation) -> None:
    parts = pa.array(["a b", "\u00fc/=%", "0", None, "x"])
    rows = pa.table(
        {"p": parts, "d": [date(2026, 3, 23)] * 5, "n": pa.array([1, 2, None, -4, 5], pa.int32()), "v": range(5)}
    )
    write_deltalake(str(lake), rows, storage_options=delta_rs_options(lake), partition_by=["p", "d", "n"])
    log = (lake_folder(lake) / "_delta_log" / f"{0:020}.json").read_text().splitlines()
    added = {action["add"]["path"]: action["add"] for line in log if "add" in (action := json.loads(line))}
    statistics = file_statistics(lake)
    told = statistics.add_actions(statistics.files["path"].to_pylist()[1:])
    assert told is not None
    assert len(told) == len(added) - 1
    for file in told:
        assert file == {name: value for name, value in added[file["path"]].items() if name in file}


@pytest.mark.parametrize(
    ("value", "properties"), [(0.5, {}), (1, {"delta.enableDeletionVectors": "true"})], ids=["floats", "hidden rows"]
)
def test_values_that_only_the_log_has_are_not_guessed(
    lake: TableLocation, value: float, properties: dict[str, str]
) -> None:
    rows = pa.table({"p": [value], "v": [1]})
    write_deltalake(
        str(lake), rows, storage_options=delta_rs_options(lake), partition_by=["p"], configuration=properties
    )
    statistics = file_statistics(lake)
    assert statistics.add_actions(statistics.files["path"].to_pylist()) is None


def test_no_table(lake: TableLocation) -> None:
    with pytest.raises(NotADeltaTableError, match="not a Delta table"):
        file_statistics(lake)
