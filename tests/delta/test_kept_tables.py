"""A log in an object store is read once: the newest version is requested each time, and no stale one is returned."""

from __future__ import annotations

import threading
import uuid
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tidemark.delta.kept_tables import KeptTables
from tidemark.delta.open_table import delta_rs_options
from tidemark.storage.object_files import ObjectFiles

if TYPE_CHECKING:
    from tests.components.s3_server import S3Server
    from tidemark.system.table_location import ObjectLocation

pytestmark = pytest.mark.components
_WARM: Final = 2
"""Who opens a table twice has it kept."""


@pytest.fixture
def place(object_store: S3Server) -> ObjectLocation:
    return object_store.location(f"kept/{uuid.uuid4().hex}")


def append(place: ObjectLocation, number: int) -> None:
    write_deltalake(str(place), pa.table({"n": [number]}), mode="append", storage_options=delta_rs_options(place))


def warmed(place: ObjectLocation) -> KeptTables:
    tables = KeptTables()
    for _ in range(_WARM):
        tables.open(place, None)
    return tables


def files(tables: KeptTables, place: ObjectLocation, version: int | None = None) -> tuple[int, int]:
    """The version of the opened table, and the number of its files."""
    table = tables.open(place, version)
    return table.version(), pa.table(table.get_add_actions()).num_rows


def test_commits_of_other_writers_are_seen(place: ObjectLocation) -> None:
    append(place, 0)
    tables = warmed(place)
    for number in range(1, 5):
        append(place, number)
        assert files(tables, place) == (number, number + 1)
        assert files(tables, place) == (number, number + 1)


def test_an_older_version_is_unchanged(place: ObjectLocation) -> None:
    for number in range(5):
        append(place, number)
    tables = warmed(place)
    for version in (2, 2, 4, 2, 0, 4, 2):
        assert files(tables, place, version) == (version, version + 1)
    assert files(tables, place) == (4, 5)


def test_an_outdated_version_is_still_readable(place: ObjectLocation) -> None:
    append(place, 0)
    tables = warmed(place)
    for number in (1, 2):
        append(place, number)
    assert files(tables, place, 1) == (1, 2)
    assert files(tables, place) == (2, 3)


@pytest.mark.parametrize("versions", [1, 3, 5])
def test_a_recreated_table_at_the_same_place_is_another_one(place: ObjectLocation, versions: int) -> None:
    """It may have fewer versions than were read, as many or more: none of the old ones is told of it."""
    for number in range(3):
        append(place, number)
    tables = warmed(place)
    assert files(tables, place, 0) == files(tables, place, 0) == (0, 1)
    ObjectFiles(place).delete_all()
    for _ in range(versions):
        write_deltalake(str(place), pa.table({"m": ["new"]}), mode="append", storage_options=delta_rs_options(place))
    assert files(tables, place) == (versions - 1, versions)
    assert [field.name for field in tables.open(place, 0).schema().fields] == ["m"]


def test_a_caller_that_changes_a_table_blocks_no_other(place: ObjectLocation) -> None:
    append(place, 0)
    append(place, 1)
    tables = warmed(place)
    tables.open(place, None).delete("n = 1")
    assert files(tables, place) == (2, 1)
    assert files(tables, place, 1) == (1, 2)


def test_a_table_is_lent_to_one_caller_at_a_time(place: ObjectLocation) -> None:
    append(place, 0)
    tables = warmed(place)
    first = tables.open(place, None)
    append(place, 1)
    second = tables.open(place, None)
    assert (first.version(), second.version()) == (0, 1)


def test_many_threads_at_once_see_the_newest_version_or_a_newer_one(place: ObjectLocation) -> None:
    append(place, 0)
    tables, wrong, reached = warmed(place), list[str](), [0]

    def look() -> None:
        while reached[0] < 10:
            before = reached[0]
            told, count = files(tables, place)
            if told < before or count != told + 1:
                wrong.append(f"{told} with {count} files, where {before} was there already")

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(1, 11):
        append(place, number)
        reached[0] = number
    for thread in threads:
        thread.join()
    assert wrong == []
