"""Between two object-store servers, and from a folder into one: the same rows, and only what changed is sent."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.components.s3_server import S3Server, s3_server
from tests.replication.lakes import rows_at
from tidemark.delta.delta_rs_table import current_version
from tidemark.delta.open_table import delta_rs_options
from tidemark.delta.published_slice import told_by_commit
from tidemark.dependency_model.failover import first_term, next_term
from tidemark.dependency_model.slice import Slice
from tidemark.replication.bandwidth import Bandwidth
from tidemark.replication.slice_files import SliceFiles
from tidemark.replication.slice_replication import SliceReplication
from tidemark.state_store.slice_copies import SliceCopy
from tidemark.storage.stored_files import stored_files
from tidemark.system.replica_place import DeclaredReplica
from tidemark.warehouse.center_terms import CenterTerms, LakeTerms, TermMark

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tidemark.system.table_location import TableLocation

DAY = "2026-03-28"


@pytest.fixture
def other_server(object_store: S3Server, tmp_path: Path) -> Iterator[S3Server]:
    keys = object_store.access_key, object_store.secret_key
    with s3_server(tmp_path, keys=keys) as running:
        yield running


def write(table: TableLocation, *ids: int) -> int:
    rows = pa.table({"id": list(ids), "dt": [DAY] * len(ids)})
    write_deltalake(str(table), rows, mode="append", partition_by=["dt"], storage_options=delta_rs_options(table))
    return current_version(table) or 0


def replicate(source: TableLocation, replica: TableLocation, version: int) -> SliceCopy:
    planned = SliceCopy.planned(Slice("sales", DAY), version + 1, version, datetime.now(UTC), None)
    files = SliceFiles({"dt": DAY})
    return SliceReplication(source, replica, files, None, Bandwidth(None), lambda _: None).run(planned)


@pytest.mark.components
@pytest.mark.parametrize("begins", ["in the store", "in a folder"])
def test_a_slice_goes_into_another_store(
    object_store: S3Server, other_server: S3Server, tmp_path: Path, begins: str
) -> None:
    endpoint = other_server.environment["AWS_ENDPOINT_URL"]
    place = DeclaredReplica("b", "s3://lake/warehouse", endpoint=endpoint).place(tmp_path, object_store.environment)
    name = begins.replace(" ", "_")
    source = object_store.location(name) if begins == "in the store" else tmp_path / name
    replica = place.lake / "sales"

    first = replicate(source, replica, write(source, *range(1_000)))
    second = replicate(source, replica, write(source, 7))

    assert rows_at(replica) == rows_at(source)
    assert 0 < second.sent_bytes < first.sent_bytes / 2
    assert [name for name in stored_files(replica).names() if name.endswith(".parquet")] != []
    assert other_server.on_disk(object_store.location("warehouse/sales")).is_dir()


@pytest.mark.components
def test_terms_and_the_facts_of_a_slice_are_read_from_a_store(object_store: S3Server, tmp_path: Path) -> None:
    lake = object_store.location("terms")
    terms, second = CenterTerms(lake, "a"), next_term(first_term("a"), "b", datetime.now(UTC), is_lost=True, why="fire")
    assert terms.read().terms == (first_term("a"),)
    assert [terms.add(second), terms.add(replace(second, holder="c"))] == [True, False]
    for _ in range(2):
        terms.mark(2, TermMark.HANDED)
    assert terms.read() == LakeTerms((first_term("a"), second), frozenset({(TermMark.HANDED, 2)}))

    source, replica = tmp_path / "source", lake / "sales"
    replicate(source, replica, write(source, 1))
    version, options = current_version(replica) or 0, delta_rs_options(replica) or {}
    assert told_by_commit(str(replica), options, version)["slice"] == f"sales@{DAY}"
    assert told_by_commit(str(replica), options, version + 1) == {}
