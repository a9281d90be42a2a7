"""A store in which two writers would lose commits is refused before anything is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import obstore
import pytest
from obstore.store import MemoryStore

from tidemark.spark.session import spark_session
from tidemark.storage import object_files
from tidemark.storage.conditional_put import require_conditional_put
from tidemark.storage.errors import StorageRefusedError, UnsafeStoreError
from tidemark.system.azure_access import AzureAccess
from tidemark.system.gcs_access import GcsAccess
from tidemark.system.s3_access import S3Access
from tidemark.system.settings import Settings
from tidemark.system.table_location import ObjectLocation, object_location

if TYPE_CHECKING:
    from pathlib import Path

    from tests.components.s3_server import S3Server

LAKE = ObjectLocation("lake", "warehouse", S3Access("eu-west-3"))
OF_GOOGLE = ObjectLocation("lake", "warehouse", GcsAccess())
OF_AZURE = ObjectLocation("lake@company.dfs.core.windows.net", "warehouse", AzureAccess("company"))
LAKES = pytest.mark.parametrize("lake", [LAKE, OF_GOOGLE, OF_AZURE])


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> MemoryStore:
    bucket = MemoryStore()
    monkeypatch.setattr(object_files, "_bucket", lambda *_: bucket)
    return bucket


@pytest.fixture
def careless(bucket: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> MemoryStore:
    """A store that takes every put."""
    put = obstore.put
    monkeypatch.setattr(obstore, "put", lambda store, key, content, **_: put(store, key, content))
    return bucket


def names(bucket: MemoryStore) -> list[str]:
    return [told["path"] for batch in obstore.list(bucket) for told in batch]


@LAKES
def test_a_store_that_refuses_the_second_put_is_accepted_and_unchanged(
    lake: ObjectLocation, bucket: MemoryStore
) -> None:
    require_conditional_put(lake)
    assert names(bucket) == []


@LAKES
def test_a_store_that_takes_both_is_refused(lake: ObjectLocation, careless: MemoryStore) -> None:
    with pytest.raises(UnsafeStoreError, match="set TIDEMARK_WAREHOUSE to a bucket of such a store"):
        require_conditional_put(lake)
    assert names(careless) == []


@pytest.mark.usefixtures("careless")
def test_no_session_of_spark_starts_on_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def start(*_: Any) -> None:
        raise AssertionError("it started")

    monkeypatch.setattr("tidemark.spark.session.is_started", lambda: False)
    monkeypatch.setattr("tidemark.spark.session.start_context", start)
    with pytest.raises(UnsafeStoreError):
        spark_session(Settings.at(tmp_path, warehouse=LAKE))


@pytest.mark.components
def test_a_real_server_is_accepted(object_store: S3Server) -> None:
    require_conditional_put(object_store.location("checked"))
    assert not object_store.on_disk(object_store.location("checked/_conditional_put")).exists()
    with pytest.raises(StorageRefusedError, match="an existing bucket"):
        require_conditional_put(object_location("s3://nowhere/t", object_store.environment, "the test"))
