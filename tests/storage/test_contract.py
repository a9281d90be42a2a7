"""The contract of files, kept by each store: disk, memory and S3 in every run of the tests, others in the long ones.

A table beside the store, whose name begins alike, is not seen and not touched.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import quote

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from obstore.store import MemoryStore

from tests.components.gcs_server import gcs_server
from tests.storage.contract import CONTRACT
from tidemark.delta.delta_rs_table import read_rows
from tidemark.delta.open_table import delta_rs_options
from tidemark.storage import object_files
from tidemark.storage.object_files import ObjectFiles
from tidemark.storage.stored_files import stored_files
from tidemark.system.s3_access import S3Access
from tidemark.system.table_location import ObjectLocation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.components.gcs_server import GcsServer
    from tidemark.storage.file_store import FileStore
    from tidemark.system.table_location import TableLocation

NUMBERS: Final = itertools.count()
FOLDERS_OF_HADOOP: Final = ("", "_delta_log/", "part=x y/", "nowhere/", "deep/er/")


class Lake(Protocol):
    """Where tables lie, by their names."""

    def location(self, folder: str) -> TableLocation:
        """The place of a table."""


class Disk:
    """A folder of this machine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def location(self, folder: str) -> TableLocation:
        """The place of a table."""
        return self._folder / folder


class Memory:
    """A bucket of this process."""

    def location(self, folder: str) -> TableLocation:
        """The place of a table."""
        return ObjectLocation("lake", folder, S3Access("eu-west-3"))


@pytest.fixture
def disk(tmp_path: Path) -> Lake:
    return Disk(tmp_path)


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Lake:
    bucket = MemoryStore()
    monkeypatch.setattr(object_files, "_bucket", lambda *_: bucket)
    return Memory()


def _server(name: str, group: str, *marks: pytest.MarkDecorator) -> Any:
    return pytest.param(name, marks=[pytest.mark.components, pytest.mark.xdist_group(group), *marks])


SERVERS: Final = [
    _server("object_store", "s3"),
    *(_server(name, name, pytest.mark.long) for name in ("gcs", "azure", "hdfs")),
]


@pytest.fixture(params=["disk", "memory", *SERVERS])
def lake_of_a_kind(request: pytest.FixtureRequest) -> Lake:
    lake: Lake = request.getfixturevalue(request.param)
    return lake


@pytest.mark.parametrize("rule", CONTRACT)
def test_contract(rule: Callable[[FileStore], None], lake_of_a_kind: Lake) -> None:
    name = f"contract{next(NUMBERS)}"
    beside = stored_files(lake_of_a_kind.location(f"{name}_2"))
    beside.put("_delta_log/of_another_table", b"x")
    rule(stored_files(lake_of_a_kind.location(name)))
    assert beside.read("_delta_log/of_another_table") == b"x"


@pytest.mark.parametrize("server", SERVERS)
def test_the_store_lists_the_files_that_delta_rs_writes(request: pytest.FixtureRequest, server: str) -> None:
    location = request.getfixturevalue(server).location("orders")
    rows = pa.table({"id": [1, 2], "part": ["x y", "ü%3A/"]})
    write_deltalake(str(location), rows, partition_by=["part"], storage_options=delta_rs_options(location))
    assert sorted(read_rows(location)["part"].to_pylist()) == ["x y", "ü%3A/"]
    store = stored_files(location)
    assert len(list(store.names())) == 2
    assert store.names_in("_delta_log") == ["_delta_log/00000000000000000000.json"]


@pytest.fixture(scope="module")
def gcs_in_memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GcsServer]:
    with gcs_server(tmp_path_factory.mktemp("gcs"), "memory") as running:
        yield running


@pytest.mark.components
@pytest.mark.long
@pytest.mark.parametrize("rule", CONTRACT)
def test_contract_with_objects_that_mark_folders(rule: Callable[[FileStore], None], gcs_in_memory: GcsServer) -> None:
    """Hadoop's connector leaves an object for a folder that it made, or whose last file it deleted."""
    folder = f"contract{next(NUMBERS)}"
    for marker in FOLDERS_OF_HADOOP:
        name = quote(f"{folder}/{marker}", safe="")
        gcs_in_memory.send(f"/upload/storage/v1/b/lake/o?uploadType=media&name={name}", b"")
    rule(ObjectFiles(gcs_in_memory.location(folder)))
