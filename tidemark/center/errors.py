"""Errors of the dependency center.

TerminalError
├── PoolError        a pool that there is not
├── WorkspaceError   a workspace.yaml that is missing, or names no Python module first
├── LauncherError    a Dagster home whose runs do not go to warm workers
└── RequestError     a request to the API that cannot be understood
    └── BodyTooLongError   a body with more bytes than are looked at

TransientError
├── LaunchError      the launcher does not take a run now
└── AnotherCenterError  somebody else holds the lease
"""

from typing import Self

from tidemark.errors import TerminalError, TransientError


class PoolError(TerminalError):
    """A pool that there is not."""


class WorkspaceError(TerminalError):
    """A workspace.yaml that is missing, or names no Python module first."""


class LauncherError(TerminalError):
    """A Dagster home whose runs do not go to warm workers."""


class RequestError(TerminalError):
    """A request to the API that cannot be understood."""


class BodyTooLongError(RequestError):
    """A body with more bytes than are looked at."""

    @classmethod
    def of(cls, most: int, size: int) -> Self:
        return cls("the body is too long", expected=f"at most {most} bytes", found=f"{size}")


class LaunchError(TransientError):
    """The launcher does not take a run now; it is asked again."""


class AnotherCenterError(TransientError):
    """Somebody else holds the lease, and does what was asked for by itself."""

    @classmethod
    def of(cls, holder: str) -> Self:
        return cls(
            "another center is active",
            expected="no center while a command reconciles storage",
            found=holder,
            hint="it reconciles storage itself, every ten seconds: nothing needs to be done",
        )
