"""Object stores by obstore as the contract wants them, with the library's own store in memory underneath.

What only a server can show - credentials, lost answers, that its conditional puts are atomic - is not shown here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import obstore
import pytest
from obstore.exceptions import GenericError, PermissionDeniedError
from obstore.store import MemoryStore

from tidemark.storage import object_files
from tidemark.storage.errors import StorageDownError, StorageRefusedError
from tidemark.storage.object_files import ObjectFiles
from tidemark.system.s3_access import S3Access
from tidemark.system.table_location import ObjectLocation

if TYPE_CHECKING:
    from collections.abc import Callable


TABLE = ObjectLocation("lake", "warehouse/t", S3Access("eu-west-3"))


@pytest.fixture(autouse=True)
def _in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    bucket = MemoryStore()
    monkeypatch.setattr(object_files, "_bucket", lambda *_: bucket)


def test_a_uri_is_a_name_in_its_own_folder_only() -> None:
    store = ObjectFiles(TABLE)
    names = {store.name_of(f"{scheme}://lake/warehouse/t/part%3D1/x%20y") for scheme in ("s3", "s3a")}
    assert names == {"part=1/x y"}
    for other in ("s3://lake/warehouse/t2/x", "s3://lake2/warehouse/t/x", "/warehouse/t/x"):
        with pytest.raises(FileNotFoundError, match="is not in s3a://lake/warehouse/t"):
            store.name_of(other)


def test_more_files_than_one_request_lists_or_deletes() -> None:
    store = ObjectFiles(TABLE)
    for number in range(2_001):
        store.put(f"_delta_log/{number}", b"")
    assert len(store.names_in("_delta_log")) == 2_001
    store.delete_all()
    assert store.names_in("_delta_log") == []


def test_a_folder_has_another_mark_after_a_change() -> None:
    """Also within a second, which is all that a server tells of a time."""
    store = ObjectFiles(TABLE)
    marks = [store.folder_mark("log")]
    for number in range(3):
        store.put(f"log/{number}", b"x")
        marks.append(store.folder_mark("log"))
        assert store.folder_mark("log") == marks[-1]
    store.delete(["log/1"])
    marks.append(store.folder_mark("log"))
    assert marks[0] is None
    assert len(set(marks)) == len(marks)


@pytest.mark.parametrize(
    ("raised", "told"),
    [(GenericError("no route\nto host"), StorageDownError), (PermissionDeniedError("no"), StorageRefusedError)],
)
def test_errors_of_the_library_are_translated(
    raised: Exception, told: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise raised

    store = ObjectFiles(TABLE)
    for name in ("get", "get_range", "head", "put", "list_with_delimiter"):
        monkeypatch.setattr(obstore, name, fail)
    asked: list[Callable[[], object]] = [
        lambda: store.read("x"),
        lambda: store.read_range("x", 0, 1),
        lambda: store.exists("x"),
        lambda: store.put("x", b""),
        lambda: store.put_if_absent("x", b""),
        lambda: store.names_in("x"),
    ]
    for ask in asked:
        with pytest.raises(told, match=r"s3a://lake/warehouse/t/x: .* - ") as shown:
            ask()
        assert "to host" not in str(shown.value)
