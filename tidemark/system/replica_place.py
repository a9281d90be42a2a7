"""The setting `replicas`: other lakes, by name, which get copies of slices."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import BeforeValidator

from tidemark.system.named_settings import named_settings
from tidemark.system.table_location import is_uri, remote_location

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.system.table_location import TableLocation

_KEYS: Final = frozenset({"lake", "mb_per_second", "repair_mb_per_second", "endpoint", "region", "stand_in"})
_MB: Final = 1_000_000
_MOST_MB: Final = 1e9
_EXAMPLE: Final = "{center_b: {lake: s3://other-lake/warehouse, mb_per_second: 50}}"


@dataclass(frozen=True)
class DeclaredReplica:
    """The setting's values for one replica. `endpoint` and `region` are those of its own object store, if any.

    `stand_in`: a center of this name works beside that lake, and may take over flows of this one.
    """

    name: str
    lake: str
    mb_per_second: float | None = None
    repair_mb_per_second: float = 20
    endpoint: str = ""
    region: str = ""
    stand_in: bool = False

    def place(self, root: Path, env: Mapping[str, str] = os.environ) -> ReplicaPlace:
        """The replica's place; a folder is relative to the project's. Raises LocationError."""
        own = {"AWS_ENDPOINT_URL_S3": self.endpoint, "AWS_REGION": self.region}
        there = {**env, **{name: value for name, value in own.items() if value}}
        where = f"replicas.{self.name}.lake"
        lake = remote_location(self.lake, there, where) if is_uri(self.lake) else root / Path(self.lake).expanduser()
        return ReplicaPlace(
            self.name, lake, self.mb_per_second and self.mb_per_second * _MB, self.repair_mb_per_second * _MB
        )


@dataclass(frozen=True)
class ReplicaPlace:
    """Another lake. The rates limit what is sent there (None: unlimited) and what a repair reads there."""

    name: str
    lake: TableLocation
    bytes_per_second: float | None
    repair_bytes_per_second: float


def _replicas(given: object) -> object:
    return named_settings(given, _replica, noun="a replica", having="their lakes", example=_EXAMPLE)


def _replica(name: str, told: object) -> DeclaredReplica:
    if not isinstance(told, dict) or not told.keys() <= _KEYS or not isinstance(told.get("lake"), str):
        raise ValueError(f"{name} needs a lake, and may have {', '.join(sorted(_KEYS - {'lake'}))}: {_EXAMPLE}")
    rates: dict[str, Any] = {key: told[key] for key in ("mb_per_second", "repair_mb_per_second") if key in told}
    for key, rate in rates.items():
        if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not 0 < rate < _MOST_MB:
            raise ValueError(f"{name}: {key} is a number above 0, found {rate!r}")
    stand_in = told.get("stand_in", False)
    if stand_in not in (True, False):
        raise ValueError(f"{name}: stand_in is true or false, found {stand_in!r}")
    texts = {key: told.get(key, "") for key in ("endpoint", "region")}
    if not all(isinstance(text, str) for text in texts.values()):
        raise ValueError(f"{name}: endpoint and region are texts")
    return DeclaredReplica(name, told["lake"], **rates, **texts, stand_in=bool(stand_in))


ReplicasField = Annotated[tuple[DeclaredReplica, ...], BeforeValidator(_replicas)]
