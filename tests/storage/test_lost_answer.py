"""A commit of Spark's in Google's or Azure's store whose answer is lost was made: once, and not once more.

Delta's own log stores take it for another writer's commit, or for none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.components.azure_server import require_azure
from tests.components.gcs_server import require_gcs
from tests.components.s3_proxy import Moment, s3_proxy
from tests.storage.committers import answer_of, start_committer
from tidemark.delta.delta_rs_table import current_version, read_rows
from tidemark.delta.open_table import delta_rs_options

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.components, pytest.mark.long]


@pytest.mark.parametrize(("kind", "require"), [("gcs", require_gcs), ("azure", require_azure)])
def test_it_is_made_once(kind: str, require: Callable[[], None], request: pytest.FixtureRequest) -> None:
    require()
    server: Any = request.getfixturevalue(kind)
    table = server.location("lake/lost_answer")
    empty = pa.schema({"who": pa.string(), "n": pa.int64()}).empty_table()
    write_deltalake(str(table), empty, storage_options=delta_rs_options(table))
    with (
        s3_proxy(server.port) as proxy,
        start_committer("spark", table, "spark", server.at(proxy.port).environment) as spark,
    ):
        assert answer_of(spark) == "ready"
        assert spark.stdin is not None
        proxy.wait_for(Moment("commit", 1, "after"), lambda: True)
        spark.stdin.write("0 0\n")
        spark.stdin.flush()
        assert answer_of(spark) == "0"
        assert not proxy.is_awaiting, "no answer was lost"
        spark.communicate()
    assert sorted(read_rows(table)["n"].to_pylist()) == [0]
    assert current_version(table) == 1
