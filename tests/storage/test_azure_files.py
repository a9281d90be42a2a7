"""A folder in a server of Azure's storage as the contract wants it, and what only this store does."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.components.s3_proxy import Moment, s3_proxy
from tests.storage.contract import CONTRACT
from tidemark.delta.delta_rs_table import read_rows, table_exists
from tidemark.delta.open_table import delta_rs_options, open_table
from tidemark.storage.conditional_put import require_conditional_put
from tidemark.storage.errors import StorageDownError, StorageRefusedError
from tidemark.storage.object_files import ObjectFiles
from tidemark.system.azure_access import ACCOUNT_KEY
from tidemark.system.free_port import free_port

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.components.azure_server import AzureServer
    from tidemark.storage.file_store import FileStore

pytestmark = pytest.mark.components
FOLDERS: Final = itertools.count()
CANARY: Final = "Y2FuYXJ5LTUxYWI="


@pytest.mark.parametrize("rule", CONTRACT)
def test_contract(rule: Callable[[FileStore], None], azure: AzureServer) -> None:
    beside = ObjectFiles(azure.location(f"contract{next(FOLDERS)}"))
    location = azure.location(f"contract{next(FOLDERS)}")
    beside.put("_delta_log/of_another_table", b"x")
    rule(ObjectFiles(location))
    assert beside.read("_delta_log/of_another_table") == b"x"


def test_a_put_whose_answer_was_lost_was_written(azure: AzureServer) -> None:
    """The library sends it again, and is refused by its own file then: who takes that for another's writes twice."""
    with s3_proxy(azure.port) as proxy, pytest.MonkeyPatch.context() as patch:
        patch.setenv("AZURE_STORAGE_ENDPOINT", azure.at(proxy.port).environment["AZURE_STORAGE_ENDPOINT"])
        store = ObjectFiles(azure.at(proxy.port).location("lost"))
        proxy.wait_for(Moment("any", 1, "after"), lambda: True)
        assert store.put_if_absent("name", b"own")
        assert proxy.counts["any"] > 1
        assert not store.put_if_absent("name", b"another")
        assert store.read("name") == b"own"


def test_the_store_is_safe_to_commit_in(azure: AzureServer) -> None:
    require_conditional_put(azure.location("checked"))
    assert not list(ObjectFiles(azure.location("checked"))._all()), "hidden files, too"


def test_files_behind_a_name(azure: AzureServer) -> None:
    store = ObjectFiles(azure.location("behind"))
    for number in range(3):
        store.put(f"_delta_log/{number}", b"x")
    assert [file.name for file in store.files_behind("_delta_log/0")] == ["_delta_log/1", "_delta_log/2"]


def test_what_delta_rs_writes_is_what_the_store_lists(azure: AzureServer) -> None:
    location = azure.location("orders")
    rows = pa.table({"id": [1, 2], "part": ["x y", "ü%3A/"]})
    write_deltalake(str(location), rows, partition_by=["part"], storage_options=delta_rs_options(location))
    assert sorted(read_rows(location)["part"].to_pylist()) == ["x y", "ü%3A/"]
    store = ObjectFiles(location)
    assert len(list(store.names())) == 2
    assert store.names_in("_delta_log") == ["_delta_log/00000000000000000000.json"]


def test_a_store_that_is_gone_is_told_of(azure: AzureServer, monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = azure.at(free_port())
    monkeypatch.setattr("tidemark.storage.object_files._RETRIES", {"max_retries": 0})
    with pytest.raises(StorageDownError, match=r"abfss://lake@\w+\.dfs\S*/t/x: .*not answer.*AZURE_STORAGE_ENDPOINT"):
        ObjectFiles(nobody.location("t")).read("x")


def test_a_wrong_key_and_a_container_that_is_not_there_are_told_of_and_the_key_is_not_shown(
    azure: AzureServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    location = azure.location("t")
    elsewhere = type(location)(f"another@{azure.account}.dfs.core.windows.net", "t", location.access)
    with pytest.raises(StorageRefusedError, match="a container that is there"):
        ObjectFiles(elsewhere).stat("x")
    monkeypatch.setenv(ACCOUNT_KEY, CANARY)
    for ask in (lambda: ObjectFiles(location).read("x"), lambda: table_exists(location), lambda: open_table(location)):
        with pytest.raises(StorageRefusedError, match="set AZURE_STORAGE_ACCOUNT_KEY, or AZURE_CLIENT_ID") as told:
            ask()
        assert CANARY not in f"{told.value} {told.value!r}"
