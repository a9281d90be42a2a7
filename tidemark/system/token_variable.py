"""Which environment variables a process is started with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

TOKEN_VARIABLE: Final = "TIDEMARK_TOKEN"  # noqa: S105 - its name
"""What callers of a web server have to name. Only the server itself gets it: the code of entities runs beside it."""


def without_token(env: Mapping[str, str]) -> dict[str, str]:
    """The environment for everything that is no web server: runs, workers, code servers, the daemon."""
    return {name: value for name, value in env.items() if name != TOKEN_VARIABLE}
