"""A folder in a server of Google Cloud Storage's API as the contract wants it, and what only this store does.

The server knows no users: what Google's own refuses is not shown here.
"""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.components.gcs_server import gcs_server
from tests.components.s3_proxy import Moment, s3_proxy
from tests.storage.contract import CONTRACT
from tidemark.delta.delta_rs_table import read_rows, table_exists
from tidemark.delta.open_table import delta_rs_options, open_table
from tidemark.storage.conditional_put import require_conditional_put
from tidemark.storage.errors import StorageDownError, StorageRefusedError
from tidemark.storage.object_files import ObjectFiles
from tidemark.system.free_port import LOOPBACK, free_port
from tidemark.system.table_location import object_location

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.components.gcs_server import GcsServer
    from tidemark.storage.file_store import FileStore

pytestmark = pytest.mark.components
FOLDERS: Final = itertools.count()
CANARY: Final = "canary-51ab"


@pytest.mark.parametrize("rule", CONTRACT)
def test_contract(rule: Callable[[FileStore], None], gcs: GcsServer) -> None:
    beside = ObjectFiles(gcs.location(f"contract{next(FOLDERS)}"))
    location = gcs.location(f"contract{next(FOLDERS)}")
    beside.put("_delta_log/of_another_table", b"x")
    rule(ObjectFiles(location))
    assert beside.read("_delta_log/of_another_table") == b"x"


@pytest.fixture(scope="module")
def in_memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GcsServer]:
    with gcs_server(tmp_path_factory.mktemp("gcs"), "memory") as running:
        yield running


@pytest.mark.parametrize("rule", CONTRACT)
def test_contract_among_what_stands_for_folders(rule: Callable[[FileStore], None], in_memory: GcsServer) -> None:
    """Hadoop's connector leaves an object for a folder that it made, or whose last file it deleted."""
    folder = f"contract{next(FOLDERS)}"
    for marker in ("", "_delta_log/", "part=x y/", "nowhere/", "deep/er/"):
        name = quote(f"{folder}/{marker}", safe="")
        in_memory.send(f"/upload/storage/v1/b/lake/o?uploadType=media&name={name}", b"")
    rule(ObjectFiles(in_memory.location(folder)))


def test_a_put_whose_answer_was_lost_was_written(gcs: GcsServer) -> None:
    """The library sends it again, and is refused by its own file then: who takes that for another's writes twice."""
    with s3_proxy(gcs.port) as proxy:
        location = object_location("gs://lake/lost", {"STORAGE_EMULATOR_HOST": proxy.endpoint}, "the test")
        store = ObjectFiles(location)
        proxy.wait_for(Moment("any", 1, "after"), lambda: True)
        assert store.put_if_absent("name", b"own")
        assert proxy.counts["any"] > 1
        assert not store.put_if_absent("name", b"another")
        assert store.read("name") == b"own"


def test_the_store_is_safe_to_commit_in(gcs: GcsServer) -> None:
    require_conditional_put(gcs.location("checked"))
    assert not list(gcs.on_disk(gcs.location("checked")).rglob("_conditional_put*"))


def test_files_behind_a_name(gcs: GcsServer) -> None:
    store = ObjectFiles(gcs.location("behind"))
    for number in range(3):
        store.put(f"_delta_log/{number}", b"x")
    assert [file.name for file in store.files_behind("_delta_log/0")] == ["_delta_log/1", "_delta_log/2"]


def test_what_delta_rs_writes_is_what_the_store_lists(gcs: GcsServer) -> None:
    location = gcs.location("orders")
    rows = pa.table({"id": [1, 2], "part": ["x y", "ü%3A/"]})
    write_deltalake(str(location), rows, partition_by=["part"], storage_options=delta_rs_options(location))
    assert sorted(read_rows(location)["part"].to_pylist()) == ["x y", "ü%3A/"]
    store = ObjectFiles(location)
    assert len(list(store.names())) == 2
    assert store.names_in("_delta_log") == ["_delta_log/00000000000000000000.json"]


def test_a_server_that_is_not_there_is_told_of() -> None:
    nobody = {"STORAGE_EMULATOR_HOST": f"http://{LOOPBACK}:{free_port()}"}
    store = ObjectFiles(object_location("gs://lake/t", nobody, "the test"))
    with pytest.raises(StorageDownError, match=r"gs://lake/t/x: .*does not answer.*STORAGE_EMULATOR_HOST"):
        store.read("x")


@pytest.mark.parametrize(
    "content",
    [
        None,
        CANARY,
        json.dumps({"type": "service_account", "private_key": CANARY}),
        json.dumps(
            {"type": "service_account", **dict.fromkeys(("client_email", "private_key", "private_key_id"), CANARY)}
        ),
    ],
)
def test_a_file_that_holds_no_credentials_is_told_of_and_not_shown(
    content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "key.json"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
    location = object_location("gs://lake/t", {}, "the test")
    for ask in (lambda: ObjectFiles(location).read("x"), lambda: table_exists(location), lambda: open_table(location)):
        with pytest.raises(
            StorageRefusedError, match="set GOOGLE_APPLICATION_CREDENTIALS to the file of a key"
        ) as told:
            ask()
        assert CANARY not in f"{told.value} {told.value!r}"
