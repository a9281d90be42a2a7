"""A folder in a server of Google Cloud Storage's API as the contract wants it, and what only this store does.

The server knows no users: what Google's own refuses is not shown here.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import pytest

from tests.components.s3_proxy import Moment, s3_proxy
from tidemark.delta.delta_rs_table import table_exists
from tidemark.delta.open_table import open_table
from tidemark.storage.conditional_put import require_conditional_put
from tidemark.storage.errors import StorageDownError, StorageRefusedError
from tidemark.storage.object_files import ObjectFiles
from tidemark.system.free_port import LOOPBACK, free_port
from tidemark.system.table_location import object_location

if TYPE_CHECKING:
    from pathlib import Path

    from tests.components.gcs_server import GcsServer

pytestmark = pytest.mark.components
CANARY: Final = "canary-51ab"


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


def test_files_after_a_name(gcs: GcsServer) -> None:
    store = ObjectFiles(gcs.location("behind"))
    for number in range(3):
        store.put(f"_delta_log/{number}", b"x")
    assert [file.name for file in store.files_behind("_delta_log/0")] == ["_delta_log/1", "_delta_log/2"]


def test_a_missing_server_is_an_error() -> None:
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
def test_a_file_without_credentials_is_an_error_that_does_not_show_it(
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
