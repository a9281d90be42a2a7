"""A folder in a real HDFS as the contract wants it; what a dead and a refusing one look like, and lost answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.components.hdfs_server import hdfs_server
from tidemark.compute.results_table import write_results_table
from tidemark.delta.delta_rs_table import table_exists
from tidemark.delta.open_table import open_table
from tidemark.storage import hdfs_files
from tidemark.storage.conditional_put import require_conditional_put
from tidemark.storage.errors import StorageDownError, StorageRefusedError
from tidemark.storage.hdfs_files import HdfsFiles
from tidemark.system.table_location import HdfsLocation

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hdfs_native import Client

    from tests.components.hdfs_server import HdfsServer

pytestmark = pytest.mark.components


def test_nothing_is_left_of_a_put(hdfs: HdfsServer) -> None:
    location = hdfs.location("passing")
    store = HdfsFiles(location)
    store.put("a", b"1")
    store.put("a", b"2")
    assert store.put_if_absent("b", b"1")
    assert not store.put_if_absent("b", b"2")
    told = hdfs.as_superuser().list_status(f"/{location.key}")
    assert sorted(file.path.rpartition("/")[2] for file in told) == ["a", "b"]


def test_a_uri_is_a_name_in_its_own_folder_only(hdfs: HdfsServer) -> None:
    location = hdfs.location("t")
    store, begin = HdfsFiles(location), f"hdfs://{location.authority}"
    assert store.name_of(f"{location}/part%3D1/x%20y") == "part=1/x y"
    for other in (f"{location}2/x", "hdfs://elsewhere:1/lake/t/x", f"{begin}/t/x", "/lake/t/x"):
        with pytest.raises(FileNotFoundError, match="is not in hdfs://"):
            store.name_of(other)


def test_a_folder_has_another_mark_after_a_change(hdfs: HdfsServer) -> None:
    store = HdfsFiles(hdfs.location("marked"))
    marks = [store.folder_mark("log")]
    for number in range(3):
        store.put(f"log/{number}", b"x")
        marks.append(store.folder_mark("log"))
        assert store.folder_mark("log") == marks[-1]
    store.delete(["log/1"])
    marks.append(store.folder_mark("log"))
    assert marks[0] is None
    assert len(set(marks)) == len(marks)


def test_more_files_than_one_answer_lists(hdfs: HdfsServer) -> None:
    """A name node tells a thousand at a time."""
    location = hdfs.location("many")
    store = HdfsFiles(location)
    for number in range(1_001):
        store._client.create(f"/{location.key}/_delta_log/{number}").close()
    assert len(store.names_in("_delta_log")) == 1_001


class RenamedTwice:
    """A client as it is where the name node's answer was lost: it asks once more."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def __getattr__(self, name: str) -> object:
        return getattr(self._client, name)

    def rename(self, source: str, target: str, overwrite: bool) -> None:
        self._client.rename(source, target, overwrite)
        self._client.rename(source, target, overwrite)


def test_a_put_whose_answer_was_lost_was_done(hdfs: HdfsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    location = hdfs.location("lost")
    client = hdfs_files._client(f"hdfs://{location.authority}", False, hdfs_files._environment_mark())  # noqa: FBT003
    monkeypatch.setattr(hdfs_files, "_client", lambda *_: RenamedTwice(client))
    store = HdfsFiles(location)
    assert store.put_if_absent("a", b"first")
    assert not store.put_if_absent("a", b"second")
    store.put("b", b"x")
    assert (store.read("a"), store.read("b")) == (b"first", b"x")


@pytest.mark.long
def test_after_a_kill_acknowledged_files_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was acknowledged is there after `kill -9`; while it is dead that is what an error says."""
    monkeypatch.setattr(hdfs_files, "_ONE_NAME_NODE", {"dfs.client.failover.max.attempts": "0"})
    with hdfs_server(tmp_path) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        store = HdfsFiles(server.location("killed"))
        for number in range(5):
            assert store.put_if_absent(f"{number}", b"x" * 1_000)
        for node in (server.name_node, server.data_node):
            node.kill()
            for ask in (lambda: store.read("0"), lambda: store.put("6", b"x")):
                with pytest.raises(StorageDownError, match="HDFS does not answer"):
                    ask()
            node.start_again()
            server.wait_until_it_takes_files()
            assert {store.read(f"{number}") for number in range(5)} == {b"x" * 1_000}
            assert not store.put_if_absent("4", b"late")
        assert not store.exists("6")


def test_another_user_is_refused(hdfs: HdfsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that the right user has made is there: it is not asked."""
    location = hdfs.location("refused")
    HdfsFiles(location).put("x", b"x")
    monkeypatch.setenv("HADOOP_USER_NAME", "mallory")
    store = HdfsFiles(location)
    asked: list[Callable[[], object]] = [
        lambda: table_exists(location),
        lambda: open_table(location),
        lambda: write_results_table(location, []),
        lambda: store.read("x"),
        lambda: store.stat("x"),
        lambda: store.names_in("x"),
        lambda: store.put("x", b""),
        lambda: store.put_if_absent("x", b""),
        lambda: store.delete(["x"]),
        lambda: list(store.walk()),
        lambda: store.has_files(""),
        lambda: require_conditional_put(location),
    ]
    for ask in asked:
        with pytest.raises(StorageRefusedError, match="HADOOP_USER_NAME") as told:
            ask()
        assert "\tat " not in str(told.value)


def test_a_missing_server_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hdfs_files, "_ONE_NAME_NODE", {"dfs.client.failover.max.attempts": "0"})
    nowhere = HdfsLocation("127.0.0.1:9", "lake")
    for ask in (lambda: HdfsFiles(nowhere).exists("x"), lambda: open_table(nowhere)):
        with pytest.raises(StorageDownError, match=r"HDFS does not answer.*safe mode"):
            ask()


def test_puts_are_refused_where_something_is(hdfs: HdfsServer) -> None:
    lake = hdfs.location("checked")
    require_conditional_put(lake)
    assert list(HdfsFiles(lake)._listed("")) == []
