"""A process of Spark and one of delta-rs commit to one table of a real S3 server, and of HDFS: nothing is lost.

With Delta's own log store for S3, which knows the writers of one process only, commits of the others are overwritten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.storage.committers import commit_at_once

if TYPE_CHECKING:
    from tests.components.hdfs_server import HdfsServer
    from tests.components.s3_server import S3Server

pytestmark = [pytest.mark.components, pytest.mark.long]
COMMITS = 100
COMMITS_IN_HDFS = 30
"""Each file takes it half a second."""
KINDS = ("spark", "delta-rs")


def test_nothing_is_lost_and_nothing_doubled(object_store: S3Server) -> None:
    require_all_once(object_store, COMMITS)


def test_nothing_is_lost_and_nothing_doubled_in_hdfs(hdfs: HdfsServer) -> None:
    """Both rename, and the name node lets one of both have a version."""
    require_all_once(hdfs, COMMITS_IN_HDFS)


def require_all_once(server: S3Server | HdfsServer, count: int) -> None:
    done = commit_at_once(server.location("lake/at_once"), KINDS, count, server.environment)
    assert sum(done.acknowledged.values()) == len(KINDS) * count
    assert (done.lost, done.doubled) == (0, 0)
    assert done.there == done.acknowledged
    assert done.is_log_whole
    assert done.versions == len(KINDS) * count
