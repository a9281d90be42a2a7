"""A folder in a server of Azure's storage as the contract wants it, and what only this store does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from tests.components.s3_proxy import Moment, s3_proxy
from tidemark.delta.delta_rs_table import table_exists
from tidemark.delta.open_table import open_table
from tidemark.storage.conditional_put import require_conditional_put
from tidemark.storage.errors import StorageDownError, StorageRefusedError
from tidemark.storage.object_files import ObjectFiles
from tidemark.system.azure_access import ACCOUNT_KEY
from tidemark.system.free_port import free_port

if TYPE_CHECKING:
    from tests.components.azure_server import AzureServer

pytestmark = pytest.mark.components
CANARY: Final = "Y2FuYXJ5LTUxYWI="


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


def test_files_after_a_name(azure: AzureServer) -> None:
    store = ObjectFiles(azure.location("behind"))
    for number in range(3):
        store.put(f"_delta_log/{number}", b"x")
    assert [file.name for file in store.files_behind("_delta_log/0")] == ["_delta_log/1", "_delta_log/2"]


def test_a_missing_store_is_an_error(azure: AzureServer, monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = azure.at(free_port())
    monkeypatch.setattr("tidemark.storage.object_files._RETRIES", {"max_retries": 0})
    with pytest.raises(StorageDownError, match=r"abfss://lake@\w+\.dfs\S*/t/x: .*not answer.*AZURE_STORAGE_ENDPOINT"):
        ObjectFiles(nobody.location("t")).read("x")


def test_a_wrong_key_and_a_missing_container_are_errors_that_do_not_show_the_key(
    azure: AzureServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    location = azure.location("t")
    elsewhere = type(location)(f"another@{azure.account}.dfs.core.windows.net", "t", location.access)
    with pytest.raises(StorageRefusedError, match="an existing container"):
        ObjectFiles(elsewhere).stat("x")
    monkeypatch.setenv(ACCOUNT_KEY, CANARY)
    for ask in (lambda: ObjectFiles(location).read("x"), lambda: table_exists(location), lambda: open_table(location)):
        with pytest.raises(StorageRefusedError, match="set AZURE_STORAGE_ACCOUNT_KEY, or AZURE_CLIENT_ID") as told:
            ask()
        assert CANARY not in f"{told.value} {told.value!r}"
