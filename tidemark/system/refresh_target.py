"""The setting `refresh_targets`: copies of slices outside the lake, by name: databases, caches and webhooks.

A target's address is only in `TIDEMARK_TARGET_<NAME>`, because it may hold a password.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Final

from pydantic import BeforeValidator

from tidemark.system.named_settings import named_settings

ADDRESS_PREFIX: Final = "TIDEMARK_TARGET_"
SIGNING_PREFIX: Final = "TIDEMARK_SIGNING_KEY_"
_METHOD: Final = re.compile(r"[A-Z]{3,10}")
_HEADER: Final = re.compile(r"[A-Za-z0-9-]{1,64}")
_EXAMPLE: Final = "{cache: {kind: redis}}"


class TargetKind(Enum):
    """The kind of a target."""

    POSTGRESQL = "postgresql"
    DUCKDB = "duckdb"
    REDIS = "redis"
    PURGE = "purge"
    WEBHOOK = "webhook"


REFRESHES: Final = {
    TargetKind.POSTGRESQL: ("table", "view"),
    TargetKind.DUCKDB: ("table",),
    TargetKind.REDIS: ("keys", "tags"),
    TargetKind.PURGE: ("tags", "paths"),
    TargetKind.WEBHOOK: (),
}
"""The keys that a declaration's `refresh` may have for a target of each kind."""
_OPTIONS: Final[dict[TargetKind, tuple[str, ...]]] = {
    TargetKind.DUCKDB: ("file",),
    TargetKind.PURGE: ("method", "header"),
}


@dataclass(frozen=True)
class RefreshTarget:
    """`file` is a DuckDB file, relative to the project; `method` and `header` are for an HTTP cache to purge."""

    name: str
    kind: TargetKind
    file: str = ""
    method: str = "PURGE"
    header: str = "xkey"


def _targets(given: object) -> object:
    return named_settings(given, _target, noun="a target", having="their kinds", example=_EXAMPLE)


def _target(name: str, told: object) -> RefreshTarget:
    kinds = {kind.value: kind for kind in TargetKind}
    if not isinstance(told, dict) or told.get("kind") not in kinds:
        raise ValueError(f"{name} needs a kind, one of {', '.join(kinds)}: {_EXAMPLE}")
    kind = kinds[told["kind"]]
    options: dict[str, Any] = {key: value for key, value in told.items() if key != "kind"}
    allowed = _OPTIONS.get(kind, ())
    unknown = [str(key) for key in options if key not in allowed]
    if unknown:
        may_have = f"may have {', '.join(allowed)}" if allowed else "has no other keys"
        raise ValueError(
            f"{name}: unknown {', '.join(unknown)}; a {kind.value} {may_have}, its address is in "
            f"{ADDRESS_PREFIX}{name.upper()}"
        )
    if not all(isinstance(value, str) for value in options.values()):
        raise ValueError(f"{name}: {', '.join(allowed)} are texts")
    if kind is TargetKind.DUCKDB and not options.get("file"):
        raise ValueError(f"{name} needs a file: {{{name}: {{kind: duckdb, file: data/bi.duckdb}}}}")
    target = RefreshTarget(name, kind, **options)
    if not _METHOD.fullmatch(target.method) or not _HEADER.fullmatch(target.header):
        raise ValueError(f"{name}: a method is for example PURGE or BAN, a header for example xkey")
    return target


RefreshTargetsField = Annotated[tuple[RefreshTarget, ...], BeforeValidator(_targets)]
