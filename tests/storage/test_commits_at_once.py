"""A process of Spark and one of delta-rs commit to one table of a real S3 server: nothing is lost or doubled.

With Delta's own log store for S3, which knows the writers of one process only, commits of the others are overwritten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.storage.committers import commit_at_once

if TYPE_CHECKING:
    from tests.components.s3_server import S3Server

pytestmark = [pytest.mark.components, pytest.mark.long]
COMMITS = 100


def test_nothing_is_lost_and_nothing_doubled(object_store: S3Server) -> None:
    kinds = ("spark", "delta-rs")
    done = commit_at_once(object_store.location("lake/at_once"), kinds, COMMITS, object_store.environment)
    assert sum(done.acknowledged.values()) == len(kinds) * COMMITS
    assert (done.lost, done.doubled) == (0, 0)
    assert done.there == done.acknowledged
    assert done.is_log_whole
    assert done.versions == len(kinds) * COMMITS
