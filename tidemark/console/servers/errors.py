"""Errors of servers that are started here.

TerminalError
└── ComponentError
    ├── ComponentMissingError   a program or jar that is not installed here
    └── ComponentFailedError    a server that did not come up, or ended
"""

from __future__ import annotations

from tidemark.errors import TerminalError


class ComponentError(TerminalError):
    """A server cannot be started."""


class ComponentMissingError(ComponentError):
    """A program is not installed on this machine."""

    def __init__(self, component: str, program: str, install: str) -> None:
        super().__init__(
            f"{component} cannot be started",
            expected=f"the program '{program}'",
            found="it is not installed",
            hint=install,
        )


class ComponentFailedError(ComponentError):
    """A server did not start or has ended, or a command that prepares it failed."""

    def __init__(self, component: str, what: str, output: str) -> None:
        super().__init__(f"{component} {what}", expected="a healthy server", hint=f"its output ends with:\n{output}")
