"""A commit of Spark's in Google Cloud Storage whose answer is lost was made: once, and not once more.

Delta's own log store takes it for another writer's commit, or for none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.components.gcs_server import require_gcs
from tests.components.s3_proxy import Moment, s3_proxy
from tests.storage.committers import answer_of, start_committer
from tidemark.delta.delta_rs_table import current_version, read_rows
from tidemark.delta.open_table import delta_rs_options

if TYPE_CHECKING:
    from tests.components.gcs_server import GcsServer

pytestmark = [pytest.mark.components, pytest.mark.long]


def test_it_is_made_once(gcs: GcsServer) -> None:
    require_gcs()
    table = gcs.location("lake/lost_answer")
    empty = pa.schema({"who": pa.string(), "n": pa.int64()}).empty_table()
    write_deltalake(str(table), empty, storage_options=delta_rs_options(table))
    with s3_proxy(gcs.port) as proxy:
        environment = {"STORAGE_EMULATOR_HOST": proxy.endpoint}
        with start_committer("spark", table, "spark", environment) as spark:
            assert answer_of(spark) == "ready"
            assert spark.stdin is not None
            for number in range(1):
                proxy.wait_for(Moment("commit", 1, "after"), lambda: True)
                spark.stdin.write(f"{number} 0\n")
                spark.stdin.flush()
                assert answer_of(spark) == str(number)
                assert not proxy.is_awaiting, "no answer was lost"
            spark.communicate()
    assert sorted(read_rows(table)["n"].to_pylist()) == [0]
    assert current_version(table) == 1
