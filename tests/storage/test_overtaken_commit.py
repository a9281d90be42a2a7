"""A commit of Spark's is under way when delta-rs makes the same version: the store refuses it, and it is made behind.

The moment is a place in the talk with the store, so that it comes for certain: writers that only run at the same time
hardly ever meet between Spark's look whether a version is there and its commit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.components.azure_server import require_azure
from tests.components.gcs_server import require_gcs
from tests.components.s3_proxy import Moment, s3_proxy
from tests.components.s3_server import require_s3_server
from tests.storage.committers import answer_of, start_committer
from tidemark.delta.delta_rs_table import current_version, read_rows
from tidemark.delta.open_table import delta_rs_options

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.components, pytest.mark.long]
SCHEMA = pa.schema({"who": pa.string(), "n": pa.int64()})


@pytest.mark.parametrize(
    ("kind", "require"), [("object_store", require_s3_server), ("gcs", require_gcs), ("azure", require_azure)]
)
def test_both_are_there(kind: str, require: Callable[[], None], request: pytest.FixtureRequest) -> None:
    require()
    server: Any = request.getfixturevalue(kind)
    table = server.location("lake/overtaken")
    options = delta_rs_options(table)
    write_deltalake(str(table), SCHEMA.empty_table(), storage_options=options)

    def overtake() -> bool:
        row = pa.table({"who": ["delta-rs"], "n": [0]}, schema=SCHEMA)
        write_deltalake(str(table), row, mode="append", storage_options=options)
        return False

    with (
        s3_proxy(server.port) as proxy,
        start_committer("spark", table, "spark", server.at(proxy.port).environment) as spark,
    ):
        assert answer_of(spark) == "ready"
        assert spark.stdin is not None
        proxy.wait_for(Moment("commit", 1, "before"), overtake)
        spark.stdin.write("0 0\n")
        spark.stdin.flush()
        assert answer_of(spark) == "0"
        assert not proxy.is_awaiting, "the moment did not come"
        spark.communicate()
    assert sorted(read_rows(table)["who"].to_pylist()) == ["delta-rs", "spark"]
    assert current_version(table) == 2
