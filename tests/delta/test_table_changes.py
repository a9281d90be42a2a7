"""What a table's log says since it was read last, wherever the table is."""

import pyarrow as pa
from deltalake import write_deltalake

from tidemark.delta.delta_rs_table import files_gone
from tidemark.delta.open_table import delta_rs_options, open_table
from tidemark.delta.table_changes import LogPosition, TableChanges, changes_after, has_log, position_at
from tidemark.storage.stored_files import stored_files
from tidemark.system.table_location import TableLocation


def write(table: TableLocation, *ids: int) -> None:
    rows, options = pa.table({"id": ids, "part": ["x y"] * len(ids)}), delta_rs_options(table)
    write_deltalake(str(table), rows, mode="append", partition_by=["part"], storage_options=options)


def told(changes: TableChanges) -> list[tuple[int, list[int | None]]]:
    return [(commit.version, [file.rows for file in commit.added]) for commit in changes.commits]


def test_each_commit_is_returned_once(lake: TableLocation) -> None:
    table = lake / "t"
    assert not has_log(table)
    write(table, 1, 2)
    assert has_log(table)
    first = changes_after(table, None)
    assert (first.is_anew, told(first)) == (True, [(0, [2])])
    seen = position_at(table, 0)
    assert (told(changes_after(table, seen)), changes_after(table, seen).is_anew) == ([], False)
    write(table, 3)
    write(table, 4, 5, 6)
    assert told(changes_after(table, seen)) == [(1, [1]), (2, [3])]


def test_another_table_at_the_same_place_is_read_from_the_start(lake: TableLocation) -> None:
    table = lake / "t"
    write(table, 1)
    seen = position_at(table, 0)
    stored_files(table).delete_all()
    assert (has_log(table), position_at(table, 0)) == (False, LogPosition(0, ""))
    write(table, 8, 9)
    again = changes_after(table, seen)
    assert (again.is_anew, told(again)) == (True, [(0, [2])])


def test_a_log_that_begins_with_a_checkpoint(lake: TableLocation) -> None:
    table = lake / "t"
    for number in range(3):
        write(table, number)
    open_table(table, 1).create_checkpoint()
    stored_files(table).delete(f"_delta_log/{version:020}.json" for version in (0, 1))
    assert told(changes_after(table, None)) == [(1, [1, 1]), (2, [1])]


def test_files_that_are_gone_are_named(lake: TableLocation) -> None:
    table = lake / "t"
    write(table, 1)
    write(table, 2)
    assert files_gone(table, 1) == ([], 2)
    name = next(stored_files(table).names())
    stored_files(table).delete([name])
    assert files_gone(table, 1) == ([name], 2)
