"""The setting `places`: pools whose runs compute elsewhere: a Spark master, a YARN queue, a Kubernetes namespace.

A place has the name of its pool, which limits its runs. Its Spark settings are a closed list, and only the operator
writes them. A token for its `probe` is only in `TIDEMARK_PLACE_<NAME>`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, ValidationInfo

from tidemark.system.named_settings import named_settings
from tidemark.system.run_pools import DEFAULT, pool_capacities

if TYPE_CHECKING:
    from collections.abc import Mapping

APP_NAME: Final = "tidemark"
"""The name of all Spark applications of a project."""
TOKEN_PREFIX: Final = "TIDEMARK_PLACE_"  # noqa: S105 - the name of a variable
_EXAMPLE: Final = "{east: {spark_master: 'spark://east:7077', probe: 'http://east:8080', cores: 2}}"
_TEXTS: Final = ("spark_master", "spark_memory", "spark_conf", "probe", "queue", "namespace")
_KEYS: Final = frozenset({*_TEXTS, "cores", "takes"})
_MOST_CORES: Final = 10_000


class PlaceKind(Enum):
    """The kind of a place, by the beginning of its `spark_master`."""

    STANDALONE = "spark://"
    YARN = "yarn"
    KUBERNETES = "k8s://"


_NEEDS: Final = {PlaceKind.YARN: "queue", PlaceKind.KUBERNETES: "namespace"}
"""The key that names the part of a cluster; it is also a setting of Spark."""


@dataclass(frozen=True)
class RunPlace:
    """`probe` is the address that tells the place's room, `cores` the cores of one run.

    `takes` has the values of tags or parts of the slices that may run here; without it, all slices may.
    """

    name: str
    kind: PlaceKind
    spark_master: str
    probe: str
    spark_memory: str = ""
    spark_conf: str = ""
    queue: str = ""
    namespace: str = ""
    cores: int = 1
    takes: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def as_settings(self, root: Path) -> dict[str, Any]:
        """The fields of Settings that this place decides for its runs."""
        conf = {"spark_conf": root / Path(self.spark_conf).expanduser()} if self.spark_conf else {}
        memory = {"spark_memory": self.spark_memory} if self.spark_memory else {}
        return {"spark_master": self.spark_master, **memory, **conf}

    @property
    def spark_settings(self) -> Mapping[str, str]:
        """Spark settings of its sessions."""
        match self.kind:
            case PlaceKind.STANDALONE:
                return {"spark.cores.max": str(self.cores)}
            case PlaceKind.YARN:
                return {"spark.yarn.queue": self.queue}
            case PlaceKind.KUBERNETES:
                return {"spark.kubernetes.namespace": self.namespace}


def _places(given: object) -> object:
    return named_settings(given, _place, noun="a place", having="their Spark masters", example=_EXAMPLE)


def _place(name: str, told: object) -> RunPlace:
    if not isinstance(told, dict) or not told.keys() <= _KEYS:
        raise ValueError(f"{name} may have {', '.join(sorted(_KEYS))}: {_EXAMPLE}")
    texts = {key: told[key] for key in _TEXTS if key in told}
    if not all(isinstance(text, str) and text for text in texts.values()):
        raise ValueError(f"{name}: {', '.join(_TEXTS)} are texts")
    kind = next((kind for kind in PlaceKind if texts.get("spark_master", "").startswith(kind.value)), None)
    if kind is None:
        raise ValueError(f"{name} needs a spark_master that begins with spark://, yarn or k8s://: {_EXAMPLE}")
    if urlsplit(texts.get("probe", "")).scheme not in ("http", "https"):
        raise ValueError(f"{name} needs a probe, the http:// address of its master or resource manager: {_EXAMPLE}")
    needed = _NEEDS.get(kind)
    if {key for key in _NEEDS.values() if key in texts} != ({needed} if needed else set()):
        raise ValueError(f"{name}: a queue belongs to yarn, a namespace to k8s://, and each needs its own")
    cores = told.get("cores", 1)
    if type(cores) is not int or not 0 < cores <= _MOST_CORES:
        raise ValueError(f"{name}: cores is the number of cores of one run, found {cores!r}")
    return RunPlace(name, kind, **texts, cores=cores, takes=_takes(name, told.get("takes", {})))


def _takes(name: str, told: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not (isinstance(told, dict) and all(told.values())):
        raise ValueError(f"{name}: takes has values of tags or parts, such as {{region: [eu, us]}}")
    return tuple(
        (str(key), tuple(map(str, value if isinstance(value, list) else [value]))) for key, value in told.items()
    )


def _in_pools(places: tuple[RunPlace, ...], info: ValidationInfo) -> tuple[RunPlace, ...]:
    pools = pool_capacities(info.data.get("pools", ""))
    for place in places:
        if place.name not in pools or place.name == DEFAULT:
            raise ValueError(f"{place.name} needs slots in `pools`, such as {place.name}=2; `default` is not a place")
    return places


PlacesField = Annotated[tuple[RunPlace, ...], BeforeValidator(_places), AfterValidator(_in_pools)]
