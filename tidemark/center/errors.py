"""Errors of the dependency center.

TerminalError
├── PoolError        an unknown pool
├── WorkspaceError   a workspace.yaml that is missing, or names no Python module first
├── LauncherError    a Dagster home whose runs do not go to warm workers
└── RequestError     a request to the API that cannot be understood
    └── BodyTooLongError   a body with more bytes than are looked at

TransientError
├── LaunchError      the launcher does not take a run now
└── AnotherCenterError  another process holds the lease
"""

from typing import Self

from tidemark.errors import TerminalError, TransientError


class PoolError(TerminalError):
    """The pool does not exist."""


class WorkspaceError(TerminalError):
    """A workspace.yaml is missing, or its first entry is not a Python module."""


class LauncherError(TerminalError):
    """Runs of this Dagster home do not go to warm workers."""


class RequestError(TerminalError):
    """An invalid request to the API."""


class BodyTooLongError(RequestError):
    """The body exceeds the size limit."""

    @classmethod
    def of(cls, most: int, size: int) -> Self:
        return cls("the body is too long", expected=f"at most {most} bytes", found=f"{size}")


class LaunchError(TransientError):
    """The launcher does not accept a run now; it is asked again."""


class AnotherCenterError(TransientError):
    """Another process holds the lease and does this work itself."""

    @classmethod
    def of(cls, holder: str) -> Self:
        return cls(
            "another center is active",
            expected="no center while a command reconciles storage",
            found=holder,
            hint="nothing to do: it reconciles storage itself every ten seconds",
        )
