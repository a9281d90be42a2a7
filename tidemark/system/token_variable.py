"""The environment variable with the token of web servers, and environments without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

TOKEN_VARIABLE: Final = "TIDEMARK_TOKEN"  # noqa: S105 - its name
"""The token that callers of a web server must send. Only the server gets it, not the processes that run entities' code.
"""


def without_token(env: Mapping[str, str]) -> dict[str, str]:
    """The environment for processes that are not web servers: runs, workers, code servers, the daemon."""
    return {name: value for name, value in env.items() if name != TOKEN_VARIABLE}
