"""Errors of the dependency center.

TerminalError
├── PoolError        a pool that there is not
├── WorkspaceError   a workspace.yaml that is missing, or names no Python module first
├── LauncherError    a Dagster home whose runs do not go to warm workers
└── RequestError     a request to the API that cannot be understood

TransientError
└── LaunchError      the launcher does not take a run now
"""

from tidemark.errors import TerminalError, TransientError


class PoolError(TerminalError):
    """A pool that there is not."""


class WorkspaceError(TerminalError):
    """A workspace.yaml that is missing, or names no Python module first."""


class LauncherError(TerminalError):
    """A Dagster home whose runs do not go to warm workers."""


class RequestError(TerminalError):
    """A request to the API that cannot be understood."""


class LaunchError(TransientError):
    """The launcher does not take a run now; it is asked again."""
