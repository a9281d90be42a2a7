"""Metadata in an object store is read by PyIceberg's own client of it, and committed once by two writers."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest
from deltalake import write_deltalake
from pyiceberg.table import StaticTable

from tests.engines.iceberg.iceberg_rows import same_rows
from tests.engines.small_lake import NOW, odd_rows
from tidemark.delta.delta_rs_table import read_rows
from tidemark.delta.iceberg_metadata import IcebergMetadata
from tidemark.delta.open_table import delta_rs_options
from tidemark.engines.iceberg.iceberg_table import IcebergTable
from tidemark.engines.iceberg.named_rows import NamedRows
from tidemark.engines.table_uri import table_uri

if TYPE_CHECKING:
    from tests.components.s3_server import S3Server

pytestmark = pytest.mark.components


def test_pyiceberg_reads_each_version_in_s3(object_store: S3Server) -> None:
    lake = object_store.location(uuid.uuid4().hex)
    table, metadata = lake / "odd", IcebergMetadata.of(lake, "odd")
    for seed, region in enumerate(("c n", "it's", "a%b=c")):
        rows = odd_rows(seed, {"region": region})
        options = delta_rs_options(table)
        write_deltalake(str(table), rows, mode="append", partition_by=["region"], storage_options=options)
    wanted = [NamedRows(f"v{version}", version, 1, {}, is_fixed=True) for version in range(3)]
    assert IcebergTable(table, metadata).keep(wanted, NOW) == 3
    newest = metadata.newest()
    assert newest is not None
    assert not metadata.put(newest._replace(content={**newest.content, "last-updated-ms": 0}))
    environment = object_store.environment
    properties = {
        "s3.endpoint": environment["AWS_ENDPOINT_URL"],
        "s3.region": environment["AWS_REGION"],
        "s3.access-key-id": environment["AWS_ACCESS_KEY_ID"],
        "s3.secret-access-key": environment["AWS_SECRET_ACCESS_KEY"],
    }
    opened = StaticTable.from_metadata(table_uri(metadata.location), properties)
    for version in range(3):
        snapshot = opened.snapshot_by_name(f"v{version}")
        assert snapshot is not None
        rows_there = opened.scan(snapshot_id=snapshot.snapshot_id).to_arrow()
        assert same_rows(rows_there, read_rows(table, version))
