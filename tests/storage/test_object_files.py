"""A folder in a real S3 server as the contract wants it; what a dead, a strange and a refusing server look like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from tests.components.s3_proxy import Moment, s3_proxy
from tests.components.s3_server import s3_server
from tidemark.compute.results_table import write_results_table
from tidemark.delta.delta_rs_table import table_exists
from tidemark.delta.open_table import open_table
from tidemark.storage.conditional_put import require_conditional_put
from tidemark.storage.errors import StorageDownError, StorageRefusedError
from tidemark.storage.object_files import ObjectFiles
from tidemark.system.table_location import object_location

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.components.s3_server import S3Server

pytestmark = pytest.mark.components
CANARY: Final = "canary-51ab"


def test_a_put_whose_answer_was_lost_was_written(object_store: S3Server) -> None:
    """The library sends it again, and is refused by its own file then: who takes that for another's writes twice."""
    with s3_proxy(object_store.port) as proxy:
        environment = {**object_store.environment, "AWS_ENDPOINT_URL": proxy.endpoint}
        location = object_location("s3://lake/lost", environment, "the test")
        store = ObjectFiles(location)
        proxy.wait_for(Moment("any", 1, "after"), lambda: True)
        assert store.put_if_absent("name", b"own")
        assert proxy.counts["any"] > 1
        assert not store.put_if_absent("name", b"another")
        assert store.read("name") == b"own"
        proxy.wait_for(Moment("any", 1, "after"), lambda: True)
        require_conditional_put(location)


def test_a_uri_is_a_name_in_its_own_folder_only(object_store: S3Server) -> None:
    store = ObjectFiles(object_store.location("t"))
    assert store.name_of("s3a://lake/t/part%3D1/x%20y") == store.name_of("s3://lake/t/part=1/x y") == "part=1/x y"
    for other in ("s3://lake/t2/x", "s3://lake2/t/x", "/t/x"):
        with pytest.raises(FileNotFoundError, match="is not in s3a://lake/t"):
            store.name_of(other)


def test_more_files_than_one_request_lists_or_deletes(object_store: S3Server) -> None:
    """A server tells a thousand at a time: who takes the first answer for all misses 1 and deletes 1,000."""
    location = object_store.location("many")
    folder = object_store.on_disk(location) / "_delta_log"
    folder.mkdir(parents=True)
    for number in range(1_001):
        (folder / f"{number}").touch()
    store = ObjectFiles(location)
    assert len(store.names_in("_delta_log")) == 1_001
    store.delete_all()
    assert store.names_in("_delta_log") == []


def test_after_a_kill_acknowledged_files_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was acknowledged is there after `kill -9`; while it is dead that is what an error says."""
    with s3_server(tmp_path) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        store = ObjectFiles(server.location("killed"))
        for number in range(20):
            assert store.put_if_absent(f"{number}", b"x" * 1_000)
        server.kill()
        with pytest.raises(StorageDownError, match="does not answer") as told:
            store.read("0")
        assert server.secret_key not in str(told.value)
        again = server.started_again()
        try:
            assert {store.read(f"{number}") for number in range(20)} == {b"x" * 1_000}
            assert not store.put_if_absent("19", b"late")
        finally:
            again.server.stop()


@pytest.mark.parametrize("keeps_user", [True, False])
def test_wrong_credentials_are_refused_and_not_shown(
    object_store: S3Server, monkeypatch: pytest.MonkeyPatch, *, keeps_user: bool
) -> None:
    """A server that knows the user answers with the whole request that was signed, a session's token among it.

    A client that the right credentials have made is there: it is not asked.
    """
    location = object_location("s3://lake/t", object_store.environment, "the test")
    assert not ObjectFiles(location).exists("x")
    wrong = dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"), CANARY)
    user = {"AWS_ACCESS_KEY_ID": object_store.access_key} if keeps_user else {}
    for name, value in {**wrong, **user}.items():
        monkeypatch.setenv(name, value)
    store = ObjectFiles(location)
    asked: list[Callable[[], object]] = [
        lambda: table_exists(location),
        lambda: open_table(location),
        lambda: write_results_table(location, []),
        lambda: store.read("x"),
        lambda: store.stat("x"),
        lambda: store.exists("x"),
        lambda: store.names_in("x"),
        lambda: store.put("x", b""),
        lambda: store.put_if_absent("x", b""),
        lambda: store.delete(["x"]),
        lambda: list(store.walk()),
        lambda: store.has_files(""),
    ]
    for ask in asked:
        with pytest.raises(StorageRefusedError, match="AWS_ACCESS_KEY_ID") as told:
            ask()
        shown = f"{told.value} {told.value!r} {store!r} {store.__dict__}"
        assert CANARY not in shown
        assert object_store.access_key not in shown


def test_a_bucket_that_is_not_there_is_not_an_empty_one(object_store: S3Server) -> None:
    store = ObjectFiles(object_location("s3://nowhere/t", object_store.environment, "the test"))
    asked: list[Callable[[], object]] = [
        lambda: store.read("x"),
        lambda: store.exists("x"),
        lambda: store.has_files(""),
        lambda: store.put("x", b""),
    ]
    for ask in asked:
        with pytest.raises(StorageRefusedError, match="an existing bucket"):
            ask()
