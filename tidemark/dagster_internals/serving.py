"""The parts of Dagster's web server, its daemon, and one code server for both.

`dagster dev` does the same, but nothing can be put in front of its web server.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from dagster._cli.proxy_server_manager import ProxyServerManager
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import WorkspaceFileTarget

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import dagster as dg

__all__ = ["DAEMON_MODULE", "DEVELOPMENT", "WorkspaceProcessContext", "code_servers", "workspace_context"]

DAEMON_MODULE: Final = "dagster._daemon"
DEVELOPMENT: Final = {"DAGSTER_IS_DEV_CLI": "1"}
"""Marks Dagster's processes as one developer's, like `dagster dev`: stack traces are short."""


@contextmanager
def code_servers(instance: dg.DagsterInstance, workspace: Path) -> Iterator[dict[str, Any]]:
    """Start a code server for each location of the workspace file, and yield the workspace with their addresses.

    A server that ends is started again.
    """
    target = WorkspaceFileTarget([str(workspace)])
    with ProxyServerManager(instance, target, code_server_log_level="warning") as manager:
        yield {"load_from": list(manager.get_code_server_specs())}


@contextmanager
def workspace_context(instance: dg.DagsterInstance, workspace: Path, version: str) -> Iterator[WorkspaceProcessContext]:
    """The content of Dagster's web server: the instance and the locations of the workspace file."""
    target = WorkspaceFileTarget([str(workspace)])
    with WorkspaceProcessContext(instance, target, version, code_server_log_level="warning") as context:
        yield context
