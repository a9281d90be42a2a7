"""Processes of Spark and of delta-rs commit to one table: on disk, in a real S3 server, Google's, Azure's and HDFS.

With Delta's own log store for S3, which knows the writers of one process only, commits of the others are overwritten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.components.azure_server import require_azure
from tests.components.gcs_server import gcs_server, require_gcs
from tests.storage.committers import Committed, commit_at_once

if TYPE_CHECKING:
    from pathlib import Path

    from tests.components.azure_server import AzureServer
    from tests.components.gcs_server import GcsServer
    from tests.components.hdfs_server import HdfsServer
    from tests.components.s3_server import S3Server

pytestmark = [pytest.mark.components, pytest.mark.long]
COMMITS = 100
COMMITS_ELSEWHERE = 30
COMMITS_ON_DISK = 50
"""Each file takes HDFS half a second; in Google Cloud Storage each commit of Spark has some twenty requests."""
KINDS = ("spark", "delta-rs")


def test_nothing_is_lost_and_nothing_doubled(object_store: S3Server) -> None:
    require_all_once(object_store, COMMITS)


def test_nothing_is_lost_and_nothing_doubled_in_hdfs(hdfs: HdfsServer) -> None:
    """Both rename, and the name node lets one of both have a version."""
    require_all_once(hdfs, COMMITS_ELSEWHERE)


def test_nothing_is_lost_and_nothing_doubled_in_google_cloud_storage(tmp_path: Path) -> None:
    """Among what Hadoop's connector puts for folders."""
    require_gcs()
    with gcs_server(tmp_path, "memory") as running:
        require_all_once(running, COMMITS_ELSEWHERE)


def test_nothing_is_lost_and_nothing_doubled_in_azure(azure: AzureServer) -> None:
    """Spark renames on a condition, delta-rs puts on one."""
    require_azure()
    require_all_once(azure, COMMITS_ELSEWHERE)


def test_nothing_is_lost_and_nothing_doubled_on_disk(tmp_path: Path) -> None:
    """All of them make a link, which the file system refuses where the name is taken."""
    kinds = ("spark", "spark", "delta-rs")
    require_complete(commit_at_once(tmp_path / "at_once", kinds, COMMITS_ON_DISK, {}), len(kinds) * COMMITS_ON_DISK)


def require_all_once(server: S3Server | GcsServer | AzureServer | HdfsServer, count: int) -> None:
    done = commit_at_once(server.location("lake/at_once"), KINDS, count, server.environment)
    require_complete(done, len(KINDS) * count)


def require_complete(done: Committed, count: int) -> None:
    assert sum(done.acknowledged.values()) == count
    assert (done.lost, done.doubled) == (0, 0)
    assert done.there == done.acknowledged
    assert done.is_log_whole
    assert done.versions == count
